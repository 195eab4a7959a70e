package main

import (
	"fmt"
	"strings"
	"time"

	"ctxdb/engine"
)

// timeline writes what changes from one turn of a list to the next.
type timeline struct {
	begun  bool
	thread string
	at     time.Time // of the last turn that has a time
}

// pause is how much time between two turns is worth a line.
const pause = time.Hour

// heading is the line that stands before a turn: its thread and its day where they
// are others than those of the turn before, and how much later it was; "": none.
func (l *timeline) heading(t *engine.Turn) string {
	var parts []string
	if !t.Time.IsZero() {
		at := t.Time.UTC()
		if !l.begun || l.at.IsZero() || at.Format(time.DateOnly) != l.at.Format(time.DateOnly) {
			parts = append(parts, at.Format("Monday 2006-01-02"))
		}
		if passed := at.Sub(l.at); !l.at.IsZero() && passed >= pause {
			parts = append(parts, later(passed))
		}
		l.at = at
	}
	if t.Thread != l.thread {
		parts = append(parts, "thread "+quoteName(t.Thread))
	}
	l.begun, l.thread = true, t.Thread
	if len(parts) == 0 {
		return ""
	}
	return "-- " + strings.Join(parts, ", ")
}

// later tells how much time passed, in its two largest units.
func later(passed time.Duration) string {
	minutes := int(passed / time.Minute)
	days, hours := minutes/(24*60), minutes/60%24
	switch {
	case days == 1:
		return fmt.Sprintf("1 day %d h later", hours)
	case days > 1:
		return fmt.Sprintf("%d days %d h later", days, hours)
	}
	return fmt.Sprintf("%d h %d min later", hours, minutes%60)
}
