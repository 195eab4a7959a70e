package demo

import (
	"encoding/json"
	"io"

	"ctxdb/cache"
	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/engine"
)

// Report is what a demo found. The text is made from it, and so is the JSON.
// Times are in nanoseconds.
type Report struct {
	Seed         uint64    `json:"seed"`
	BudgetTokens int       `json:"budget_tokens"`
	References   int       `json:"references"`
	Session      Session   `json:"session"`
	Published    Published `json:"published"`
	KeepAll      Paging    `json:"keep_all"` // a window for everything
	Paged        []Paging  `json:"paged"`    // the window of the budget, by each policy, lru first
	Offline      []Offline `json:"offline"`  // the same references, known in advance
	Latency      Latency   `json:"latency"`
	File         File      `json:"file"`
}

// Session is what was appended.
type Session struct {
	Turns         int   `json:"turns"`
	Tokens        int   `json:"tokens"`
	LargestTokens int   `json:"largest_tokens"`
	ContentBytes  int64 `json:"content_bytes"`
	JSONLBytes    int64 `json:"jsonl_bytes"` // of the same turns as export writes them
}

// Published are the figures of the demo of demand paging that this one repeats on real turns.
type Published struct {
	BudgetTokens int `json:"budget_tokens"`
	Items        int `json:"items"`
	Tokens       int `json:"tokens"`
	References   int `json:"references"`
	PeakTokens   int `json:"peak_tokens"`
	Faults       int `json:"faults"`
	Lost         int `json:"lost"`
}

var published = Published{BudgetTokens: 8000, Items: 60, Tokens: 60_728, References: 1500, PeakTokens: 7997, Faults: 226}

// Paging is one run of the references.
type Paging struct {
	Policy     cache.Policy `json:"policy,omitempty"`
	References int          `json:"references"`
	Faults     int          `json:"faults"`
	Evictions  int          `json:"evictions"`
	PeakTokens int          `json:"peak_tokens"`
	TurnsLost  int          `json:"turns_lost"` // came back differing, or not at all
	Mean       *Mean        `json:"mean,omitempty"`
}

// Mean is the same run in the sessions of several seeds, its own included.
type Mean struct {
	Seeds     int     `json:"seeds"`
	Faults    float64 `json:"faults"`
	Min       float64 `json:"min_faults"`
	Max       float64 `json:"max_faults"`
	TurnsLost int     `json:"turns_lost"` // of all seeds together
}

// File is the ctxdb file after it was closed.
type File struct {
	Kept        string   `json:"kept,omitempty"` // its path, where it was to be kept
	Bytes       int64    `json:"bytes"`
	FreeBytes   int64    `json:"free_bytes"`    // inside it, used again by later appends
	OfJSONL     float64  `json:"of_jsonl"`      // Bytes as a part of the JSONL's
	UsedOfJSONL float64  `json:"used_of_jsonl"` // the same without FreeBytes
	TurnsLost   int      `json:"turns_lost"`    // read from the closed file: not as appended, or not there
	Findings    []string `json:"findings"`      // of Verify
}

// lost counts everything that should not be.
func (r *Report) lost() int {
	n := r.KeepAll.TurnsLost + r.File.TurnsLost + len(r.File.Findings)
	for _, run := range r.Paged {
		n += run.TurnsLost
		if run.Mean != nil {
			n += run.Mean.TurnsLost
		}
	}
	return n
}

// WriteJSON writes the report as one indented JSON object and a newline.
func (r Report) WriteJSON(w io.Writer) error {
	if r.File.Findings == nil {
		r.File.Findings = []string{}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// jsonl is a turn as export writes it.
func jsonl(i int, t engine.Turn) ([]byte, error) {
	return transcript.MarshalTurn(transcript.Turn{
		ID: uint64(i) + 1, Key: t.Key, Thread: t.Thread, Role: t.Role, Time: t.Time, Tokens: t.Tokens,
		Content: t.Content, Entities: t.Entities, ReplyKey: t.ReplyKey,
	})
}
