// Package recalltest holds the ranking to real coding sessions: questions whose
// turns are known, and what indexing and searching a hundred thousand turns costs.
// It has tests only; they skip where the sessions are absent.
package recalltest
