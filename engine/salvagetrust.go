package engine

import (
	"context"
	"errors"
	"math"

	"ctxdb/format"
	"ctxdb/segment"
)

// trust is how far a copy agrees with better ones. A crash can leave turns that
// were never acknowledged, and whose ids were given to others afterwards: from
// some id on such a copy tells another story.
type trust struct {
	agreed   uint64 // the highest id at which a better copy has the same turn
	disputed uint64 // the lowest id at which a better copy has another turn
}

// believe reports whether a copy may fill a hole of better ones. Up to where it
// agrees with them it tells their story. Behind that it is believed where
// nothing disagrees; frames that nobody promised are not, where a better copy
// should have the id.
func (m *merge) believe(ctx context.Context, c *copyOf, id uint64) (bool, error) {
	if c.class <= classOldLog {
		return true, nil
	}
	if c.trust == nil {
		t, err := m.compare(ctx, c)
		if err != nil {
			return false, err
		}
		c.trust = &t
	}
	if id <= c.trust.agreed {
		return id < c.trust.disputed, nil
	}
	return c.trust.disputed == math.MaxUint64 && c.class != classLeftover, nil
}

// compare holds a copy against each better one that shares ids with it.
func (m *merge) compare(ctx context.Context, c *copyOf) (trust, error) {
	t := trust{disputed: math.MaxUint64}
	sums := map[uint64]uint64{}
	if err := eachTurn(ctx, c, func(x *segment.Turn) { sums[x.ID] = x.Record.Sum }); err != nil {
		return t, err
	}
	for _, b := range m.all {
		if b.better(c) >= 0 || b.end <= c.first || b.first >= c.end {
			continue
		}
		err := eachTurn(ctx, b, func(x *segment.Turn) {
			switch sum, ok := sums[x.ID]; {
			case !ok:
			case sum == x.Record.Sum:
				t.agreed = max(t.agreed, x.ID)
			default:
				t.disputed = min(t.disputed, x.ID)
			}
		})
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// eachTurn goes through the turns of a copy that can be read, beside any other
// reading of it.
func eachTurn(ctx context.Context, c *copyOf, see func(*segment.Turn)) error {
	for t, err := range c.turns(ctx) {
		var lost *segment.RangeError
		if err != nil && !errors.As(err, &lost) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil // the rest can't be read
		}
		if t.ID != 0 {
			see(&t)
		}
	}
	return nil
}

// damageOf says what is wrong, and where.
func damageOf(err error) (string, int64) {
	var c *format.CorruptError
	if errors.As(err, &c) {
		return c.Region + ": " + c.Detail, c.Offset
	}
	return err.Error(), 0
}
