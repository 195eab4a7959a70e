package lex

// tally counts terms: a table with open addressing, whose keys are hashes
// already. Emptying it takes time for what is in it, not for its size.
type tally struct {
	slots []uint64 // term << 32 | count; a count of 0 is free
	used  []uint32 // slots, in the order in which they were taken
}

const firstSlots = 1 << 10

func (t *tally) reset() {
	if t.slots == nil {
		t.slots = make([]uint64, firstSlots)
	}
	for _, i := range t.used {
		t.slots[i] = 0
	}
	t.used = t.used[:0]
}

// add counts a term once more. New terms beyond MaxTurnTerms are left out.
func (t *tally) add(term Term) {
	key, mask := uint32(term), uint32(len(t.slots)-1)
	for i := key & mask; ; i = (i + 1) & mask {
		switch s := t.slots[i]; {
		case uint32(s) == 0:
			if len(t.used) == MaxTurnTerms {
				return
			}
			t.slots[i] = uint64(key)<<32 | 1
			if t.used = append(t.used, i); 2*len(t.used) > len(t.slots) {
				t.grow()
			}
			return
		case uint32(s>>32) == key:
			t.slots[i]++
			return
		}
	}
}

func (t *tally) grow() {
	old := t.slots
	t.slots = make([]uint64, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for n, from := range t.used {
		i := uint32(old[from]>>32) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i], t.used[n] = old[from], i
	}
}

func (t *tally) appendTo(dst []TermCount) []TermCount {
	for _, i := range t.used {
		dst = append(dst, TermCount{Term(t.slots[i] >> 32), int(uint32(t.slots[i]))})
	}
	return dst
}
