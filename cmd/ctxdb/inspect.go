package main

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"ctxdb/engine"
)

const inspectLong = `Inspect says what FILE holds and how it stands, also while another process writes to it: who it
is, its turns by role and thread, its bytes, its segments and log with their offsets, who has it
open for writing, and whether there is something to do.

With an ID it says everything about one turn: its fields, where its bytes lie (of more than 20
blocks the first, with --full all), and the turns that it answers.

Roles and threads are counted by reading the turns: in files of more than 100,000 of them only
with --full, which lists every segment and thread too.

The exit code is 1 if turns are found damaged.`

func inspectVerb() *cobra.Command {
	var asJSON, full bool
	cmd := &cobra.Command{
		Use:        "inspect FILE [ID]",
		SuggestFor: []string{"info", "stat", "stats"},
		Short:      "Say what a file holds and how it stands, or where a turn is",
		Long:       inspectLong,
		Args:       arguments(1, 2, "FILE and ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var id engine.TurnID
			if len(args) == 2 {
				var err error
				if id, err = parseID(cmd, args[1]); err != nil {
					return err
				}
			}
			return reading(args[0], func(db *engine.DB) (err error) {
				var r report
				if id != 0 {
					r, err = inspectTurn(db, id, full)
				} else {
					r, err = inspectFile(db, args[0], full)
				}
				if err != nil {
					return absent(db, id, err)
				}
				if err := show(cmd, asJSON, r); err != nil {
					return err
				}
				if f, ok := r.(*fileReport); ok && f.hasDamage {
					return errReported
				}
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&full, "full", false, "count roles and threads, and list everything, however much it is")
	return cmd
}

// countedTurns is how many turns are read to count roles and threads unasked.
const countedTurns = 100_000

type fileReport struct {
	File     string       `json:"file"`
	UUID     string       `json:"uuid"`
	Format   string       `json:"format"`
	Created  string       `json:"created"`
	State    string       `json:"state"`
	Epoch    uint64       `json:"epoch"`
	Turns    uint64       `json:"turns"`
	Lost     uint64       `json:"lost_turns"`
	Sealed   uint64       `json:"sealed_turns"`
	Logged   uint64       `json:"logged_turns"`
	Counted  bool         `json:"counted"` // roles and threads were
	Roles    []tally      `json:"roles,omitempty"`
	Threads  []tally      `json:"threads,omitempty"`
	Tokens   int64        `json:"tokens"`
	Content  int64        `json:"content_bytes"`
	Source   int64        `json:"source_bytes"`
	Bytes    int64        `json:"file_bytes"`
	Free     int64        `json:"free_bytes"`
	Segments []segmentRow `json:"segments"`
	Log      []logRow     `json:"log"`
	KeyRuns  int          `json:"key_runs"`
	Vectors  []vectorsRow `json:"vectors,omitempty"` // made by ctxdb embed
	Recovery recovery     `json:"recovery"`
	Holder   *holder      `json:"holder"`                           // null: nobody has it open for writing
	Unknown  string       `json:"unknown_write_features,omitempty"` // in hex; with any this program can only read
	Health   string       `json:"health"`

	full      bool
	hasDamage bool // turns can't be read
}

// tally counts the turns of one role or thread.
type tally struct {
	Name  string `json:"name"`
	Turns int    `json:"turns"`
}

type segmentRow struct {
	Number  uint64        `json:"number"`
	Offset  int64         `json:"offset"`
	Bytes   int64         `json:"bytes"`
	FirstID engine.TurnID `json:"first_turn"`
	Turns   uint64        `json:"turns"`
	Content int64         `json:"content_bytes"`
	Source  int64         `json:"source_bytes"`
	Keys    int           `json:"keys"`
}

// vectorsRow is what there is of one model.
type vectorsRow struct {
	Model   string `json:"model"` // "": can't be read
	Dims    int    `json:"dimensions"`
	Vectors uint64 `json:"vectors"`
	Turns   uint64 `json:"turns"` // that were looked at
	Bytes   int64  `json:"bytes"`
	Runs    int    `json:"runs"`
	Newer   int    `json:"runs_by_newer_program,omitempty"`
}

type logRow struct {
	Offset  int64         `json:"offset"`
	Bytes   int64         `json:"bytes"`
	Cycle   uint64        `json:"cycle"`
	FirstID engine.TurnID `json:"first_turn,omitempty"`
	Turns   uint64        `json:"turns"`
	Frames  int64         `json:"frame_bytes"`
}

// recovery is what the next open for writing puts away. A reader does the same in memory.
type recovery struct {
	Turns     uint64 `json:"turns"`
	TornBytes int64  `json:"torn_bytes"`
	TornAt    int64  `json:"torn_at,omitempty"`
}

type holder struct {
	PID   uint64 `json:"pid,omitempty"` // 0: it did not say
	Host  string `json:"host,omitempty"`
	Since string `json:"since,omitempty"`
}

func inspectFile(db *engine.DB, file string, full bool) (*fileReport, error) {
	s, rec := db.Stats(), db.Recovery()
	r := &fileReport{
		File: file, UUID: s.UUID, Created: s.Created.UTC().Format(time.RFC3339), State: s.State, Epoch: s.Epoch,
		Turns: s.Turns, Lost: s.LostTurns, Sealed: s.SealedTurns, Logged: s.LoggedTurns,
		Tokens: s.Tokens, Content: s.ContentBytes, Source: s.SourceBytes, Bytes: s.FileBytes, Free: s.FreeBytes,
		KeyRuns: s.KeyRuns, Recovery: recovery{Turns: rec.Turns, TornBytes: rec.TornBytes, TornAt: rec.TornAt}, full: full,
		Segments: []segmentRow{}, Log: []logRow{},
	}
	for _, x := range s.Segments {
		r.Segments = append(r.Segments, segmentRow{
			Number: x.Number, Offset: x.Offset, Bytes: x.Length, FirstID: x.FirstID, Turns: x.Turns,
			Content: x.ContentBytes, Source: x.SourceBytes, Keys: x.Keys,
		})
	}
	for _, x := range s.Log {
		r.Log = append(r.Log, logRow{Offset: x.Offset, Bytes: x.Length, Cycle: x.Cycle, FirstID: x.FirstID, Turns: x.Turns, Frames: x.Bytes})
	}
	models, err := db.VectorRuns()
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		r.Vectors = append(r.Vectors, vectorsRow{Model: m.Model, Dims: m.Dims, Vectors: m.Vectors, Turns: m.Turns, Bytes: m.Bytes, Runs: m.Runs, Newer: m.Newer})
	}
	damagedSlot, err := r.head(db.Path())
	if err != nil {
		return nil, err
	}
	unreadable := 0
	if full || s.Turns <= countedTurns {
		unreadable = r.count(db)
	}
	r.Health = r.health(damagedSlot, unreadable)
	r.hasDamage = r.Lost > 0 || unreadable > 0
	return r, nil
}

// count goes through all turns and returns how many can't be read.
func (r *fileReport) count(db *engine.DB) (unreadable int) {
	roles, threads := map[string]int{}, map[string]int{}
	for t, err := range db.Turns(0, 0) {
		switch {
		case err != nil && errors.Is(err, engine.ErrForgotten):
		case err != nil:
			unreadable++
		default:
			roles[t.Role]++
			threads[t.Thread]++
		}
	}
	r.Counted, r.Roles, r.Threads = true, tallies(roles), tallies(threads)
	return unreadable
}

func (r *fileReport) text(w io.Writer) {
	row(w, "file", "%s", escape(r.File))
	row(w, "uuid", "%s", r.UUID)
	row(w, "format", "%s, created %s", r.Format, r.Created)
	row(w, "state", "%s, epoch %d", r.State, r.Epoch)
	r.textTurns(w)
	r.textBytes(w)
	r.textExtents(w)
	switch {
	case r.Holder == nil:
		row(w, "writer", "nobody has it open for writing")
	case r.Holder.PID == 0:
		row(w, "writer", "a process that did not give its name")
	default:
		row(w, "writer", "process %d on %s since %s", r.Holder.PID, escape(r.Holder.Host), r.Holder.Since)
	}
	row(w, "health", "%s", r.Health)
}
