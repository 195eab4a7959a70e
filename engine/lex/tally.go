package lex

// tally counts terms: a table with open addressing, whose keys are hashes
// already. Emptying it takes time for what is in it, not for its size.
type tally struct {
	slots []TermCount // a count of 0 is free
	used  []uint32
}

const firstSlots = 1 << 10

func (t *tally) reset() {
	if t.slots == nil {
		t.slots = make([]TermCount, firstSlots)
	}
	for _, i := range t.used {
		t.slots[i] = TermCount{}
	}
	t.used = t.used[:0]
}

// add counts a term once more. New terms beyond MaxTurnTerms are left out.
func (t *tally) add(term Term) {
	mask := uint32(len(t.slots) - 1)
	for i := uint32(term) & mask; ; i = (i + 1) & mask {
		switch s := &t.slots[i]; {
		case s.Count == 0:
			if len(t.used) == MaxTurnTerms {
				return
			}
			*s = TermCount{term, 1}
			if t.used = append(t.used, i); 2*len(t.used) > len(t.slots) {
				t.grow()
			}
			return
		case s.Term == term:
			s.Count++
			return
		}
	}
}

func (t *tally) grow() {
	old := t.appendTo(nil)
	t.slots = make([]TermCount, 2*len(t.slots))
	t.used = t.used[:0]
	mask := uint32(len(t.slots) - 1)
	for _, tc := range old {
		i := uint32(tc.Term) & mask
		for t.slots[i].Count != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = tc
		t.used = append(t.used, i)
	}
}

func (t *tally) appendTo(dst []TermCount) []TermCount {
	for _, i := range t.used {
		dst = append(dst, t.slots[i])
	}
	return dst
}
