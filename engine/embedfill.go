package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ctxdb/engine/vec"
	"ctxdb/format"
)

// text is a turn that waits for its vector.
type text struct {
	id   uint64
	text string
}

// fill makes the vectors of a range of turns.
func (p *embedRun) fill(from, to uint64) error {
	p.from, p.next, p.waiting, p.bytes = from, from, nil, 0
	for p.next < to {
		texts, next, unread, err := p.gather(to)
		if err == nil {
			err = p.make(texts)
		}
		if err != nil {
			err = errors.Join(err, p.commit()) // what was answered is paid for
			p.r.Refused = slices.DeleteFunc(p.r.Refused, func(id TurnID) bool { return uint64(id) >= p.next })
			return err
		}
		p.next = next
		if p.o.Progress != nil {
			p.o.Progress(next-1, p.end-1)
		}
		if unread != nil || p.next-p.from >= commitTurns || p.bytes >= commitBytes || p.next == to {
			if err := p.commit(); err != nil {
				return err
			}
		}
		if unread != nil {
			if err := p.passOver(unread); err != nil {
				return err
			}
		}
	}
	return nil
}

// passOver leaves out the next turn, which can't be read: no run covers it, so that a
// later pass tries it again.
//
// REQUIRES: what is before it is committed.
func (p *embedRun) passOver(unread error) error {
	id := TurnID(p.next)
	if n := len(p.r.Unread); n == 0 || p.r.Unread[n-1]+1 != id {
		p.holes++
	}
	p.r.Unread = append(p.r.Unread, id)
	if p.failed == nil {
		p.failed = fmt.Errorf("#%d: %w", id, unread)
	}
	if p.holes > mostHoles {
		return fmt.Errorf("too many turns can't be read, the last is #%d: %w", id, unread)
	}
	p.next++
	p.from = p.next
	return nil
}

// gather reads turns from p.next on until enough texts are together, or the next
// one can't be read, for a reason that is none of the turn's.
func (p *embedRun) gather(to uint64) (texts []text, next uint64, unread, err error) {
	limit := min(to, p.from+commitTurns)
	for next = p.next; next < limit && len(texts) < embedTexts; next++ {
		if (next-p.next)%lookInterval == 0 && p.ctx.Err() != nil {
			return nil, 0, nil, context.Cause(p.ctx)
		}
		var t format.Turn
		err := p.db.do(func(v *view) (err error) {
			t, err = v.get(next)
			return err
		})
		switch {
		case isDamage(err) || errors.Is(err, ErrForgotten):
			p.r.Damaged++
			continue
		case errors.Is(err, ErrClosed):
			return nil, 0, nil, err
		case err != nil:
			return texts, next, err, nil
		}
		s := embeddable(&t, p.limit)
		switch {
		case t.Model == p.r.Model && vec.Comparable(t.Embedding):
			p.r.Had++
		case s == "":
			p.r.Empty++
		default:
			texts = append(texts, text{next, s})
		}
	}
	return texts, next, nil, nil
}
