package main

import (
	"testing"
	"time"

	"ctxdb/engine"
)

func TestTimeline(t *testing.T) {
	var l timeline
	start := time.Date(2026, 4, 1, 22, 0, 0, 0, time.FixedZone("", 2*3600)) // 20:00 UTC
	for i, c := range []struct {
		thread string
		after  time.Duration // start; -1: no time
		want   string
	}{
		{"a", -1, "-- thread a"},
		{"a", 0, "-- Wednesday 2026-04-01"},
		{"a", 59 * time.Minute, ""},
		{"a", 59*time.Minute + time.Hour, "-- 1 h 0 min later"},
		{"a", -1, ""},
		{"b", 3 * time.Hour, "-- 1 h 1 min later, thread b"},
		{"b", 5 * time.Hour, "-- Thursday 2026-04-02, 2 h 0 min later"},
		{"b", 4 * time.Hour, ""},
		{"b", 3 * time.Hour, "-- Wednesday 2026-04-01"},
		{"", 31 * time.Hour, "-- Friday 2026-04-03, 1 day 4 h later, thread -"},
		{"", 24*90*time.Hour + 31*time.Hour, "-- Thursday 2026-07-02, 90 days 0 h later"},
	} {
		turn := engine.Turn{Thread: c.thread}
		if c.after >= 0 {
			turn.Time = start.Add(c.after)
		}
		if got := l.heading(&turn); got != c.want {
			t.Errorf("turn %d: %q, want %q", i, got, c.want)
		}
	}
}
