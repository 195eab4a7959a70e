package sessionrefs

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"ctxdb/cache/replay"
	"ctxdb/cmd/ctxdb/internal/transcript"
)

// Record is a turn as transcripts and ctxdb files have it.
type Record struct {
	Thread  string
	Role    string // user, assistant, system, tool_call, tool_result, meta
	Content []byte
	Source  []byte // the agent's own record, if there is one
	// Key and ReplyTo tie a result to its call where there is no source; any
	// names will do, such as the numbers of the turns.
	Key, ReplyTo string
}

// FromTranscript makes a record of a transcript's turn. It shares its memory.
func FromTranscript(t transcript.Turn) Record {
	return Record{Thread: t.Thread, Role: t.Role, Content: t.Content, Source: t.Source, Key: t.Key, ReplyTo: t.ReplyKey}
}

// Extract infers references from a session's records; see replay.Extract. The
// records are consumed to the end.
func Extract(name string, records iter.Seq[Record]) *replay.Trace {
	return replay.Extract(name, Turns(records))
}

// Turns yields the turns of the records. What it yields shares no memory with
// them.
func Turns(records iter.Seq[Record]) iter.Seq[replay.Turn] {
	return func(yield func(replay.Turn) bool) {
		var s session
		for r := range records {
			s.records++
			if strings.HasSuffix(r.Thread, "/sidechain") {
				continue
			}
			for _, t := range s.turns(&r) {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// session is what has to be known of the records before.
type session struct {
	records int
	dir     string // of the session, or of the latest command: paths may be relative to it
}

// envelope has the members by which the formats are told apart.
type envelope struct {
	Type    string          `json:"type"`
	Message json.RawMessage `json:"message"`
	Payload json.RawMessage `json:"payload"`
	Cwd     string          `json:"cwd"`
}

func (s *session) turns(r *Record) []replay.Turn {
	var e envelope
	source := bytes.TrimLeft(r.Source, "\x00\ufeff \t\r\n")
	if len(source) == 0 || json.Unmarshal(source, &e) != nil {
		return r.plain()
	}
	if e.Type == "session" { // of pi, at the start
		s.dir = e.Cwd
	}
	switch {
	case len(e.Payload) > 0:
		if e.Type == "response_item" {
			return codexTurns(e.Payload, &s.dir)
		}
		return nil
	case len(e.Message) > 0 && e.Type == "message":
		return piTurns(strconv.Itoa(s.records), s.dir, e.Message)
	case len(e.Message) > 0:
		return claudeTurns(e.Message, e.Cwd)
	case e.Type == "":
		return r.plain()
	}
	return nil
}

// plain goes by role and content.
func (r *Record) plain() []replay.Turn {
	t := replay.Turn{Text: string(r.Content)}
	switch r.Role {
	case "user", "system":
		t.Role = replay.User
	case "assistant":
		t.Role = replay.Assistant
	case "tool_call":
		t.Role, t.CallID = replay.Call, r.Key
	case "tool_result", "tool":
		t.Role, t.CallID = replay.Result, r.ReplyTo
	default:
		return nil
	}
	return []replay.Turn{t}
}
