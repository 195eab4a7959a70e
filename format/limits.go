package format

// Limits of the format. What exceeds one is ErrTooLarge and never stored.
const (
	MaxContent   = 256 << 20 // bytes of content in a turn
	MaxSource    = 512 << 20 // bytes of source in a turn
	MaxKey       = 1 << 10   // bytes of a key
	MaxName      = 1 << 10   // bytes of a role or a thread
	MaxSummary   = 4 << 10   // bytes of a summary
	MaxLabels    = 64 << 10  // bytes of all entities, and of all tags, of a turn
	MaxEmbedding = 8192      // floats
	MaxTurns     = 1 << 40   // TurnIDs in a file
	MaxFile      = 1 << 47   // bytes of a file
	MaxTokens    = 1 << 40   // tokens of a turn
	MaxBatch     = 1 << 30   // bytes of the records of one batch
	MaxAside     = 16 << 20  // bytes of the aside
	MaxVectorRun = 64 << 20  // bytes of data in a vector run

	// maxMeta bounds a meta part; it follows from the limits above.
	maxMeta = 256 << 10
)
