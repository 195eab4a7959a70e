package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ctxdb/engine"
)

// TestErrorsSpeakOfTheCommandLine, not of the library, and stay the errors that they are.
func TestErrorsSpeakOfTheCommandLine(t *testing.T) {
	for _, err := range []error{
		&engine.LockedError{Path: "/a", PID: 7, Host: "h"},
		&engine.LockedError{Path: "/a"},
		&engine.UnwritableError{Err: engine.ErrReadOnly},
		&engine.UnwritableError{Err: engine.ErrVersion},
		fmt.Errorf("%w: /a is %w; open it without Options.ReadOnly", engine.ErrNotCtxdb, engine.ErrEmpty),
	} {
		got := explain("a.ctxdb", fmt.Errorf("open: %w", err))
		if text := oneLine(got); strings.Contains(text, "Options") || !strings.HasPrefix(text, "a.ctxdb: ") {
			t.Errorf("%v: %s", err, text)
		}
		for _, sentinel := range []error{engine.ErrLocked, engine.ErrReadOnly, engine.ErrVersion, engine.ErrEmpty} {
			if errors.Is(got, sentinel) != errors.Is(err, sentinel) {
				t.Errorf("%v is %v: %v", got, sentinel, errors.Is(got, sentinel))
			}
		}
	}
	if advice(fmt.Errorf("a.ctxdb: %w", engine.ErrBroken)) == "" || advice(engine.ErrNotFound) != "" {
		t.Error("what to do after a failed write is not said, or said of something else")
	}
}
