package rank

import (
	"math"
	"slices"
	"time"

	"ctxdb/engine/lex"
)

// extras are what lifts or bars the turns of a part beside their words.
type extras struct {
	named    []bool  // speakers whom the question names; nil: none
	admitted []bool  // speakers that the filter admits; nil: all
	most     float64 // above what a score may be multiplied by
}

func (s *searcher) extrasOf(c *Columns) extras {
	m := s.model
	x := extras{named: s.namedSpeakers(c), admitted: s.admittedSpeakers(c), most: 1.001 * max(1, m.Question)}
	if x.named != nil {
		x.most *= max(1, m.Named)
	}
	if s.query.Asks != 0 {
		x.most *= max(1, m.Time, m.Name, m.Number, m.Reason)
	}
	if len(s.query.Dates) > 0 {
		x.most *= 1 + max(0, m.Date)
	}
	return x
}

// choose weighs what is known of a turn that has a score, and keeps it where it is
// among the best.
func (s *searcher) choose(at int, c *Columns, seat uint32, e *extras) {
	x := s.scores[seat]
	if x*float32(e.most) < float32(s.worst()) {
		return
	}
	if e.admitted != nil && !e.admitted[c.Who[seat]] || !s.inTime(c.Times[seat]) {
		return
	}
	score := float64(x) * s.cueFactor(c.Cues[seat]) * s.dateFactor(c.Times[seat])
	if e.named != nil && e.named[c.Who[seat]] {
		score *= s.model.Named
	}
	h := Hit{Part: at, Ordinal: c.Ordinals[seat], Score: score}
	if s.best.admits(h) && (s.filter.Keep == nil || s.filter.Keep(at, h.Ordinal)) {
		s.best.add(h)
	}
}

// namedSpeakers marks the speakers whom the question names; nil where it names none.
func (s *searcher) namedSpeakers(c *Columns) []bool {
	var named []bool
	for i, speaker := range c.Speakers {
		for _, word := range speaker.Words {
			if slices.Contains(s.query.Names, word) {
				if named == nil {
					named = make([]bool, len(c.Speakers))
				}
				named[i] = true
			}
		}
	}
	return named
}

// admittedSpeakers marks the roles that the filter admits; nil where it admits all.
func (s *searcher) admittedSpeakers(c *Columns) []bool {
	if s.filter.Roles == nil {
		return nil
	}
	admitted := make([]bool, len(c.Speakers))
	for i, speaker := range c.Speakers {
		admitted[i] = slices.Contains(s.filter.Roles, speaker.Name)
	}
	return admitted
}

func (s *searcher) inTime(seconds int64) bool {
	from, to := s.filter.From, s.filter.To
	if from.IsZero() && to.IsZero() {
		return true
	}
	return seconds != NoTime && (from.IsZero() || seconds >= from.Unix()) && (to.IsZero() || seconds <= to.Unix())
}

func (s *searcher) cueFactor(has lex.Cue) float64 {
	m, x := s.model, 1.0
	if has&lex.CueQuestion != 0 {
		x = m.Question
	}
	switch has & s.query.Asks {
	case lex.CueTime:
		x *= m.Time
	case lex.CueName:
		x *= m.Name
	case lex.CueNumber:
		x *= m.Number
	case lex.CueReason:
		x *= m.Reason
	}
	return x
}

// People tell about a day soon after it, seldom before.
const (
	daysAfter  = 10
	daysBefore = 5
)

// dateFactor favours turns near a date that the question names.
func (s *searcher) dateFactor(seconds int64) float64 {
	if len(s.query.Dates) == 0 || seconds == NoTime {
		return 1
	}
	t := time.Unix(seconds, 0).UTC()
	nearest := 0.0
	for _, d := range s.query.Dates {
		days := d.DaysFrom(t)
		scale := float64(daysAfter)
		if days < 0 {
			scale = daysBefore
		}
		nearest = max(nearest, math.Exp(-math.Abs(days)/scale))
	}
	return 1 + s.model.Date*nearest
}
