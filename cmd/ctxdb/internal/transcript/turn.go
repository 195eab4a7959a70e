package transcript

import "time"

// Roles that the reader gives. Plain transcripts may bring others.
const (
	RoleUser       = "user"
	RoleAssistant  = "assistant"
	RoleSystem     = "system"
	RoleToolCall   = "tool_call"
	RoleToolResult = "tool_result"
	RoleMeta       = "meta" // kept and exported, no part of the conversation
)

// Tags that the reader gives, beside "tool:" and the tool's name.
const (
	TagGap            = "gap"             // Source begins with its own gap, no newline is implied before it
	TagTail           = "tail"            // Source is what follows the last record; void once turns follow
	TagUnreadable     = "unreadable"      // the record is no JSON; Content holds its bytes
	TagSidechain      = "sidechain"       // written by a subagent
	TagThinking       = "thinking"        // reasoning that the tool disclosed
	TagError          = "error"           // a tool or the API reported a failure
	TagInjected       = "injected"        // a user turn that no user typed
	TagCompactSummary = "compact-summary" // stands for the turns before it
	TagAgentMessage   = "agent-message"   // came from another agent of the same session
)

// Turn is one turn as a transcript tells it. Its memory belongs to the caller;
// Content may be a part of Source.
type Turn struct {
	ID        uint64 // only from ctxdb's own export, where it is the exporting file's id
	Key       string // unique in its file, at most 1 KiB
	Thread    string
	Role      string
	Time      time.Time // zero where the record has none
	Tokens    int       // only from ctxdb's own export
	Content   []byte    // what the model saw
	Source    []byte    // the record as it came; see Joiner
	Summary   string
	Entities  []string // origin first: the path, command or address of a call and of its result
	Tags      []string
	Decision  bool
	ReplyTo   uint64 // only from ctxdb's own export
	ReplyKey  string // empty, or the key of an earlier turn of this stream
	Embedding []float32

	EmbeddingModel string // that made Embedding
}

// LeftOut names a part of the input that could not be read as a turn.
type LeftOut struct {
	Line   int    // of the first byte, from 1
	Offset int64  // of the first byte, from the start of the input
	Bytes  int64  // how long the part is
	Reason string // in plain words, without line and offset
	Kept   bool   // a meta turn with TagUnreadable holds the bytes; otherwise no turn does
}

// DefaultMaxRecordBytes is the engine's limit on the content of a turn.
const DefaultMaxRecordBytes = 256 << 20

// Options of a Reader. The zero value is ready to use.
type Options struct {
	MaxRecordBytes int           // of one record; 0: DefaultMaxRecordBytes
	OnLeftOut      func(LeftOut) // called in input order, optional
}
