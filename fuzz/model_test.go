package fuzz

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"ctxdb/engine"
)

// Model is what a ctxdb file is: a list of turns that grows by whole batches.
// It knows nothing about logs, segments or superblocks.
//
// invariant: 0 <= durable <= visible <= len(turns); turns[i].ID == i+1.
type Model struct {
	turns    []engine.Turn // as they are read back, and with their sources; behind visible: of unknown outcome
	ends     []int         // len(turns) after each batch
	visible  int           // turns that were acknowledged, or seen after an open
	durable  int           // turns that no power cut may take
	embedded int           // turns whose vectors no power cut may take
	firm     int           // of a fork: what each superblock alone must show; the newer may know a large batch more until the older is written again
	forked   bool
	exists   bool // the file's name is durable: no power cut may take it
	keys     map[string]engine.TurnID
}

// plan says what an append of this batch must do: the turns that it stores and
// the ids that it returns, or the error.
func (m *Model) plan(batch []engine.Turn) (stored []engine.Turn, ids []engine.TurnID, err error) {
	fresh := map[string]int{}
	find := func(key string) (engine.Turn, bool) {
		if i, ok := fresh[key]; ok {
			return stored[i], true
		}
		if id, ok := m.keys[key]; ok {
			return m.turns[id-1], true
		}
		return engine.Turn{}, false
	}
	for _, t := range batch {
		id := engine.TurnID(m.visible + len(stored) + 1)
		if t.ReplyKey != "" {
			to, ok := find(t.ReplyKey)
			if !ok {
				return nil, nil, engine.ErrNotFound
			}
			t.ReplyTo, t.ReplyKey = to.ID, ""
		}
		if known, ok := find(t.Key); ok && t.Key != "" {
			if known.Role != t.Role || known.Thread != t.Thread || known.ReplyTo != t.ReplyTo || !bytes.Equal(known.Content, t.Content) {
				return nil, nil, engine.ErrKeyExists
			}
			ids = append(ids, known.ID)
			continue
		}
		if t.ReplyTo >= id {
			return nil, nil, engine.ErrNotFound
		}
		if t.Tokens == 0 {
			t.Tokens = engine.EstimateTokens(t.Content)
		}
		if t.Key != "" {
			fresh[t.Key] = len(stored)
		}
		t.ID = id
		stored, ids = append(stored, t), append(ids, id)
	}
	return stored, ids, nil
}

// propose adds a batch whose outcome is not known yet.
func (m *Model) propose(stored []engine.Turn) {
	if len(stored) == 0 {
		return
	}
	m.turns = append(m.turns[:m.visible:m.visible], stored...)
	m.ends = append(m.ends, len(m.turns))
}

// acknowledge ends an append that returned its ids.
func (m *Model) acknowledge(durable bool) {
	for _, t := range m.turns[m.visible:] {
		if t.Key != "" {
			m.keys[t.Key] = t.ID
		}
	}
	m.visible = len(m.turns)
	if m.exists = true; durable {
		m.durable, m.firm = m.visible, m.visible
	}
}

// withdraw takes a proposed batch back: it is known that nothing of it is kept.
func (m *Model) withdraw() { m.settle(m.visible) }

// allows reports whether a file with n turns may be what is left now.
func (m *Model) allows(n int) error {
	switch {
	case n < m.durable:
		return fmt.Errorf("%d turns where %d are durable", n, m.durable)
	case n > len(m.turns):
		return fmt.Errorf("%d turns where %d were ever appended", n, len(m.turns))
	case n > 0 && !slices.Contains(m.ends, n):
		return fmt.Errorf("%d turns: a batch in pieces; they end at %v", n, m.ends[max(0, len(m.ends)-4):])
	}
	return nil
}

// settle makes the first n turns all there are.
func (m *Model) settle(n int) {
	m.turns = m.turns[:n:n]
	m.ends = slices.DeleteFunc(slices.Clone(m.ends), func(e int) bool { return e > n })
	m.visible, m.durable = n, min(m.durable, n)
	m.keys = map[string]engine.TurnID{}
	for _, t := range m.turns {
		if t.Key != "" {
			m.keys[t.Key] = t.ID
		}
	}
}

// fork is the model of an image in which n turns were found.
func (m *Model) fork(n int) *Model {
	c := *m
	c.settle(n)
	c.firm, c.forked = min(m.durable, n), true
	c.durable, c.exists = n, true
	return &c
}

// sameTurn compares what was appended with what was read. Sources are read
// apart.
func sameTurn(want, got engine.Turn) error {
	switch {
	case want.ID != got.ID:
		return fmt.Errorf("turn %d comes as %d", want.ID, got.ID)
	case !bytes.Equal(want.Content, got.Content):
		return fmt.Errorf("turn %d: content of %d bytes differs from the %d appended", want.ID, len(got.Content), len(want.Content))
	case want.Key != got.Key, want.Thread != got.Thread, want.Role != got.Role, want.Summary != got.Summary:
		return fmt.Errorf("turn %d: key %q thread %q role %q summary %q", want.ID, got.Key, got.Thread, got.Role, got.Summary)
	case want.Tokens != got.Tokens, want.Decision != got.Decision, want.ReplyTo != got.ReplyTo, got.ReplyKey != "":
		return fmt.Errorf("turn %d: tokens %d decision %v reply %d %q", want.ID, got.Tokens, got.Decision, got.ReplyTo, got.ReplyKey)
	case !want.Time.Equal(got.Time), want.Time.Format(time.RFC3339Nano) != got.Time.Format(time.RFC3339Nano):
		return fmt.Errorf("turn %d: time %v for %v", want.ID, got.Time, want.Time)
	case !slices.Equal(want.Entities, got.Entities), !slices.Equal(want.Tags, got.Tags), !slices.Equal(want.Embedding, got.Embedding):
		return fmt.Errorf("turn %d: entities %q tags %q embedding %v", want.ID, got.Entities, got.Tags, got.Embedding)
	}
	return nil
}
