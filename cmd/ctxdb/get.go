package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/engine"
)

const getLong = `Get prints the content of a turn, exactly the bytes that came, nothing added. ID is 42 or #42.

--source prints the record that the turn was imported from instead. --json prints the whole
turn as one line of JSON, its source included, in the form of ctxdb export --format jsonl:
content that is no UTF-8 stands in content_base64.`

type getFlags struct {
	key            string
	asJSON, source bool
	out            outFlags
}

func getVerb() *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use:        "get FILE ID | --key KEY",
		SuggestFor: []string{"show", "cat", "read"},
		Short:      "Print a turn in the bytes that came",
		Long:       getLong,
		Args:       arguments(1, 2, "FILE and ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.out.checkName(cmd); err != nil {
				return err
			}
			id, err := f.id(cmd, args[1:])
			if err != nil {
				return err
			}
			return reading(args[0], func(db *engine.DB) error {
				b, err := f.read(db, id)
				if err != nil {
					return err
				}
				return f.out.write(cmd.OutOrStdout(), args[0], func(w io.Writer) error {
					_, err := w.Write(b)
					return err
				})
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.key, "key", "", "the turn with this `KEY`, instead of ID")
	flags.BoolVar(&f.source, "source", false, "print the record that it was imported from")
	flags.BoolVar(&f.asJSON, "json", false, "print the whole turn as JSON")
	f.out.add(cmd)
	return cmd
}

// id is the turn asked for; 0: the one with the key.
func (f *getFlags) id(cmd *cobra.Command, args []string) (engine.TurnID, error) {
	if (len(args) == 1) == (f.key != "") {
		return 0, usage(cmd, "get needs an ID or --key, and not both")
	}
	if f.asJSON && f.source {
		return 0, usage(cmd, "give --json or --source, not both; the source is in the JSON")
	}
	if f.key != "" {
		return 0, nil
	}
	return parseID(cmd, args[0])
}

func (f *getFlags) read(db *engine.DB, id engine.TurnID) (b []byte, err error) {
	if id == 0 {
		id, err = db.Lookup(f.key)
		if errors.Is(err, engine.ErrNotFound) {
			return nil, fmt.Errorf("%s: key %q: %w", db.Path(), f.key, engine.ErrNotFound)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", db.Path(), err)
		}
	}
	switch {
	case f.asJSON:
		b, err = wholeTurn(db, id)
		b = append(b, '\n')
	case f.source:
		b, err = db.Source(id)
		if err == nil && b == nil {
			err = fmt.Errorf("%s: turn #%d: source %w; it was appended without one", db.Path(), id, engine.ErrNotFound)
			return nil, err
		}
	default:
		b, err = db.AppendContent(nil, id)
	}
	return b, absent(db, id, err)
}

// wholeTurn is a turn with its source, as a line of JSON without its newline.
func wholeTurn(db *engine.DB, id engine.TurnID) ([]byte, error) {
	t, err := db.Get(id)
	if err != nil {
		return nil, err
	}
	source, err := db.Source(id)
	if err != nil {
		return nil, err
	}
	return marshal(t, source)
}

// marshal is a turn as a line of ctxdb's own JSON, without its newline. A key that an
// import of such a line made is none of the turn's, and is made again.
func marshal(t engine.Turn, source []byte) ([]byte, error) {
	turn := transcript.Turn{
		ID: uint64(t.ID), Key: t.Key, Thread: t.Thread, Role: t.Role, Time: t.Time, Tokens: t.Tokens,
		Content: t.Content, Source: source, Summary: t.Summary, Entities: t.Entities, Tags: t.Tags,
		Decision: t.Decision, ReplyTo: uint64(t.ReplyTo), Embedding: t.Embedding, EmbeddingModel: t.EmbeddingModel,
	}
	if transcript.HasMadeKey(turn) {
		turn.Key = ""
	}
	b, err := transcript.MarshalTurn(turn)
	if err != nil {
		return nil, errors.Join(err, fmt.Errorf("turn #%d has no JSON form", t.ID))
	}
	return b, nil
}
