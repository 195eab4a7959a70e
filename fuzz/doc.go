// Package fuzz holds package engine against a naive model of what a ctxdb file
// is: a list of turns. It cuts the power at every operation, fails every
// operation, and reads what is left.
//
// A Model knows turns and batches only. A player runs the operations of
// a history on a file in memory and keeps the model beside it; a history is
// drawn from a seed or from a fuzzer's bytes, and runs under any options. A
// cutter takes images of what a power cut could leave and looks at each: for
// reading, by each superblock slot alone, for some also for writing, and for
// some of those with the power cut again meanwhile.
//
// The tests are bounded; `go test ./fuzz -full` runs them at full size, and
// `-seed n` one history. TestLyingSyncs and TestMutations take a protection away
// on purpose, and each must be noticed.
//
// rules.go says which tests protect from which failure.
package fuzz
