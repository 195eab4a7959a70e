package workload

import "ctxdb/engine"

// Base is a set in a form that can be encoded and handed to another process.
type Base struct {
	Name  string
	Real  bool
	Turns []engine.Turn
}

// Base of the set; it shares its turns.
func (s *Set) Base() Base { return Base{s.Name, s.Real, s.turns} }

// Set is the set of a base.
func (b Base) Set() *Set { return newSet(b.Name, b.Real, b.Turns) }
