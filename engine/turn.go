package engine

import (
	"bytes"
	"time"

	"ctxdb/format"
)

// TurnID is the file-wide number of a turn, from 1 in the order of commits.
type TurnID uint64

// RoleMeta marks a record that is kept and exported, but no part of the
// conversation.
const RoleMeta = "meta"

// Turn is one message: the unit of append and of reading.
type Turn struct {
	ID        TurnID    // assigned by Append
	Key       string    // optional, unique in the file; the same key with the same content again is a no-op that returns the first id
	Thread    string    // a named sequence of turns
	Role      string    // user, assistant, tool_call, tool_result, system, meta ...
	Time      time.Time // to the nanosecond, with its offset from UTC; the zero time is kept
	Tokens    int       // 0: counted by Options.Tokenizer; below 0: refused
	Content   []byte    // what the model sees, in the bytes that came
	Source    []byte    // optional: the record it came in, for byte-exact export; read by DB.Source only
	Summary   string
	Entities  []string
	Tags      []string
	Decision  bool
	ReplyTo   TurnID    // a tool result's call, a branch's parent; below the turn's own id
	ReplyKey  string    // the same by key: of an earlier turn of the file or of this batch
	Embedding []float32 // optional

	// EmbeddingModel names the model that made Embedding. Vectors of different
	// names, and those without one, are never compared.
	EmbeddingModel string
}

// stored is the turn as package format knows it, ReplyKey resolved.
func (t *Turn) stored() format.Turn {
	return format.Turn{
		Decision: t.Decision, Role: t.Role, Thread: t.Thread, Tokens: uint64(max(t.Tokens, 0)), Time: t.Time,
		ReplyTo: uint64(t.ReplyTo), Key: t.Key, Summary: t.Summary, Entities: t.Entities, Tags: t.Tags,
		Embedding: t.Embedding, Model: t.EmbeddingModel, Content: t.Content, Source: t.Source,
	}
}

// fromStored is the turn of an id, without its source.
func fromStored(id uint64, s *format.Turn) Turn {
	return Turn{
		ID: TurnID(id), Key: s.Key, Thread: s.Thread, Role: s.Role, Time: s.Time, Tokens: int(s.Tokens),
		Content: s.Content, Summary: s.Summary, Entities: s.Entities, Tags: s.Tags, Decision: s.Decision,
		ReplyTo: TurnID(s.ReplyTo), Embedding: s.Embedding, EmbeddingModel: s.Model,
	}
}

// sameContent is what "the same key with the same content" means; for turns
// without content their sources are compared as well.
func sameContent(a, b *format.Turn) bool {
	return a.Role == b.Role && a.Thread == b.Thread && a.ReplyTo == b.ReplyTo && bytes.Equal(a.Content, b.Content)
}
