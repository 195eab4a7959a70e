package disk

import (
	"fmt"
	"math/rand/v2"
)

// Mode says which unsynced operations a crash keeps.
type Mode uint8

const (
	KeepNone    Mode = iota // the last synced state
	KeepAll                 // everything that is still to be written back
	KeepWrites              // a random subset of whole writes
	TornSectors             // each sector of each write on its own
	TornBytes               // all writes before one, that one up to a byte, none after it
	Reordered               // later writes, and none before them
	Mixed                   // each write kept, dropped, torn at sectors or torn at a byte
	modeEnd
)

var modeNames = [modeEnd]string{"keep-none", "keep-all", "keep-writes", "torn-sectors", "torn-bytes", "reordered", "mixed"}

func (m Mode) String() string {
	if m >= modeEnd {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return modeNames[m]
}

// Variant is one of the states that a power cut can leave. Equal histories and
// equal variants give equal images.
type Variant struct {
	Mode Mode
	Seed uint64
}

func (v Variant) String() string { return fmt.Sprintf("%v/%d", v.Mode, v.Seed) }

// Variants returns one variant of each mode with this seed.
func Variants(seed uint64) []Variant {
	all := make([]Variant, modeEnd)
	for m := range all {
		all[m] = Variant{Mode: Mode(m), Seed: seed}
	}
	return all
}

// fate is what happens to one unsynced write.
type fate struct {
	how fateKind
	arg int // torn: a sector stays when 4 random bits are below it; cut: the bytes that stay
}

type fateKind uint8

const (
	dropped fateKind = iota
	whole
	torn
	cut
)

// fates draws one fate for each change, and how many of them the file system's
// journal had committed: that many have changed the size of the file.
func fates(changes []change, mode Mode, rng *rand.Rand) (drawn []fate, journal int) {
	n := len(changes)
	drawn = make([]fate, n)
	journal = n
	if rng.IntN(2) == 0 {
		journal = rng.IntN(n + 1)
	}
	switch mode {
	case KeepAll:
		for i := range drawn {
			drawn[i].how = whole
		}
		journal = n
	case KeepWrites:
		for i := range drawn {
			drawn[i].how = fateKind(rng.IntN(2)) // dropped or whole
		}
	case TornSectors:
		for i := range drawn {
			drawn[i] = tornFate(rng)
		}
	case TornBytes:
		last := rng.IntN(n)
		for i := range last {
			drawn[i].how = whole
		}
		drawn[last] = cutFate(changes[last], rng)
		journal = last + rng.IntN(2)
	case Reordered:
		first := rng.IntN(2) // a single write: kept or not
		if n > 1 {
			first = 1 + rng.IntN(n-1)
		}
		for i := first; i < n; i++ {
			drawn[i].how = whole
		}
	case Mixed:
		for i := range drawn {
			switch how := fateKind(rng.IntN(4)); how {
			case torn:
				drawn[i] = tornFate(rng)
			case cut:
				drawn[i] = cutFate(changes[i], rng)
			default:
				drawn[i].how = how
			}
		}
	}
	return drawn, journal
}

// tornFate makes few, half or nearly all sectors stay: with one half alone, a
// long write would never lose just one sector.
func tornFate(rng *rand.Rand) fate {
	return fate{how: torn, arg: [...]int{1, 8, 15}[rng.IntN(3)]}
}

func cutFate(c change, rng *rand.Rand) fate {
	return fate{how: cut, arg: rng.IntN(len(c.data) + 1)}
}
