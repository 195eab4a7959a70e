package workload

import (
	"bytes"
	"testing"
)

func TestSetsRepeatAndKeysDoNot(t *testing.T) {
	t.Setenv("CTXDB_DATA", t.TempDir())
	coding, err := Coding()
	if err != nil {
		t.Fatal(err)
	}
	chat, err := Chat()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Set{coding, chat} {
		t.Log(s)
		if s.Real || s.Len() == 0 {
			t.Errorf("%s: no data, yet real, or empty", s)
		}
		seen := map[string]bool{}
		for i := range 3 * s.Len() {
			a, b := s.At(i), s.At(i%s.Len())
			if !bytes.Equal(a.Content, b.Content) || a.Role != b.Role {
				t.Fatalf("turn %d is not turn %d again", i, i%s.Len())
			}
			if seen[a.Key] || a.Key != Key(i) {
				t.Fatalf("turn %d: key %q is not its own", i, a.Key)
			}
			seen[a.Key] = true
		}
	}
}

func TestRealSets(t *testing.T) {
	coding, err := Coding()
	if err != nil {
		t.Fatal(err)
	}
	chat, err := Chat()
	if err != nil {
		t.Fatal(err)
	}
	if !coding.Real || !chat.Real {
		t.Skip("the folder of real data is absent")
	}
	t.Log(coding)
	t.Log(chat)
	if coding.Len() < 1000 || chat.Len() < 1000 {
		t.Errorf("%d and %d turns: the data was not understood", coding.Len(), chat.Len())
	}
}

func TestSessionTakesTwoRecordsOfALine(t *testing.T) {
	turns := session("s", []byte(`{"type":"user","message":{"role":"user","content":"a"}}{"type":"assistant","message":{"role":"assistant","content":[]}}
{"type":"summary"}
{"type":"response_item","payload":{"type":"message"}}
{"broken
`))
	if len(turns) != 3 || string(turns[0].Content) != `"a"` || string(turns[2].Content) != `{"type":"message"}` {
		t.Fatalf("%d turns: %+v", len(turns), turns)
	}
}
