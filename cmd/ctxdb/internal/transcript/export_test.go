package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func anyBytes() *rapid.Generator[[]byte] {
	return rapid.OneOf(
		rapid.SliceOf(rapid.Byte()),
		rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }),
		rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"\"", "\\", "\n", "\x00", "\u2028", "\U0001f41d", "\xed\xa0\x80", "<a>"})),
			func(parts []string) []byte { return []byte(joinStrings(parts)) }),
	)
}

func joinStrings(parts []string) (all string) {
	for _, p := range parts {
		all += p
	}
	return all
}

func anyString() *rapid.Generator[string] {
	return rapid.Map(anyBytes(), func(b []byte) string { return string(b) })
}

func anyTurn(rt *rapid.T) Turn {
	list := rapid.Map(rapid.SliceOfN(anyString(), 0, 3), func(l []string) []string {
		if len(l) == 0 {
			return nil
		}
		return l
	})
	turn := Turn{
		ID: rapid.Uint64().Draw(rt, "id"), Key: anyString().Draw(rt, "key"), Thread: anyString().Draw(rt, "thread"),
		Role: anyString().Draw(rt, "role"), Tokens: rapid.IntRange(0, 1<<30).Draw(rt, "tokens"),
		Content: anyBytes().Draw(rt, "content"), Summary: anyString().Draw(rt, "summary"),
		Entities: list.Draw(rt, "entities"), Tags: list.Draw(rt, "tags"), Decision: rapid.Bool().Draw(rt, "decision"),
		ReplyTo: rapid.Uint64().Draw(rt, "replyTo"), ReplyKey: anyString().Draw(rt, "replyKey"),
		EmbeddingModel: anyString().Draw(rt, "model"),
	}
	switch rapid.IntRange(0, 3).Draw(rt, "source") {
	case 1:
		turn.Source = []byte{}
	case 2:
		turn.Source = slices.Clone(turn.Content)
	case 3:
		turn.Source = anyBytes().Draw(rt, "bytes")
	}
	if rapid.Bool().Draw(rt, "timed") {
		turn.Time = time.Unix(rapid.Int64Range(-1e10, 1e11).Draw(rt, "s"), rapid.Int64Range(0, 999999999).Draw(rt, "ns")).UTC()
	}
	for range rapid.IntRange(0, 3).Draw(rt, "dims") {
		turn.Embedding = append(turn.Embedding, math.Float32frombits(rapid.Uint32().Draw(rt, "x")))
	}
	return turn
}

// TestExportRoundTrip: what MarshalTurn writes is JSON for everybody, and comes back the same.
func TestExportRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		turn := anyTurn(rt)
		line, err := MarshalTurn(turn)
		if err != nil {
			rt.Fatal(err)
		}
		if !json.Valid(line) || bytes.ContainsAny(line, "\n\r") {
			rt.Fatalf("not one line of JSON: %q", line)
		}
		back, err := ParseTurn(line)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := MarshalTurn(back)
		if err != nil || !bytes.Equal(line, again) {
			rt.Fatalf("%v\n%s\n%s", err, line, again)
		}
		if slices.ContainsFunc(turn.Embedding, func(x float32) bool { return x != x }) {
			turn.Embedding, back.Embedding = nil, nil // NaN is unequal to itself; its bits were compared above
		}
		if (turn.Source == nil) != (back.Source == nil) {
			rt.Fatal("an empty source and none were confused")
		}
		if turn.Content = append([]byte{}, turn.Content...); len(turn.Source) == 0 {
			turn.Source, back.Source = nil, nil
		}
		if !reflect.DeepEqual(turn, back) {
			rt.Fatalf("\n%+v\n%+v", turn, back)
		}
	})
}

func TestParseTurnRefuses(t *testing.T) {
	for _, line := range []string{
		``, `{}`, `[]`, `{"id":1,"role":"user"}`, `{"id":-1,"role":"user","content":""}`, `{"id":1,"role":3,"content":""}`,
		`{"id":1,"role":"user","content":"\ud83d"}`, `{"id":1,"role":"user","content_base64":"*"}`,
		`{"id":1,"role":"user","content":""} {}`, `{"id":1,"role":"user","content":"","tags":"x"}`,
		`{"id":1,"role":"user","content":"","time":"yesterday"}`, `{"id":1,"role":"user","content":""`,
		`{"id":1,"role":"user","content":"","embedding_base64":"AAA="}`,
	} {
		if turn, err := ParseTurn([]byte(line)); !errors.Is(err, ErrBadTurn) {
			t.Errorf("%s: %+v, %v", line, turn, err)
		}
	}
	if _, err := MarshalTurn(Turn{ID: 4, Time: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a year of five digits was written")
	}
}

// TestExportIsImported: a transcript, exported turn by turn and read again, is the same,
// down to the file that it came from.
func TestExportIsImported(t *testing.T) {
	in, err := os.ReadFile("testdata/claude.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	in = bytes.ReplaceAll(in, []byte("\n"), []byte(" \n"))
	turns, _ := readAll(t, in, Options{})
	var exported []byte
	ids := make(map[string]uint64)
	for i, turn := range turns {
		turn.ID, turn.Tokens = uint64(i+100), 1
		ids[turn.Key] = turn.ID
		turn.ReplyTo, turn.ReplyKey = ids[turn.ReplyKey], ""
		line, err := MarshalTurn(turn)
		if err != nil {
			t.Fatal(err)
		}
		exported = append(append(exported, line...), '\n')
	}
	back, r := readAll(t, exported, Options{})
	if r.Format() != "ctxdb" || len(r.LeftOut()) != 0 || len(back) != len(turns) {
		t.Fatalf("format %s, %d turns, left out %v", r.Format(), len(back), r.LeftOut())
	}
	for i := range back {
		back[i].ID, back[i].Tokens, back[i].ReplyTo = 0, 0, 0
		turns[i].Content = append([]byte{}, turns[i].Content...)
		if !reflect.DeepEqual(back[i], turns[i]) {
			t.Errorf("turn %d:\n%+v\n%+v", i, back[i], turns[i])
		}
	}
	if got := join(t, back); !bytes.Equal(got, in) {
		t.Errorf("the transcript differs at byte %d", differAt(got, in))
	}
}

// TestExportDamage: a bad line among exported ones is kept, tagged and reported.
func TestExportDamage(t *testing.T) {
	in := `{"id":1,"role":"user","tokens":1,"content":"a"}` + "\n" + `{"id":2,"role":"user","tokens":1,"content":7}` + "\n" +
		"{oops\n" + `{"id":4,"role":"user","tokens":1,"reply_to":1,"content":"b"}` + "\n"
	turns, r := readAll(t, []byte(in), Options{})
	if len(turns) != 4 || len(r.LeftOut()) != 2 || r.LeftOut()[0].Line != 2 || r.LeftOut()[1].Line != 3 {
		t.Fatalf("%d turns, left out %+v", len(turns), r.LeftOut())
	}
	if turns[3].ReplyKey != turns[0].Key || !slices.Contains(turns[1].Tags, TagUnreadable) || turns[1].Source != nil {
		t.Errorf("%+v", turns)
	}
}
