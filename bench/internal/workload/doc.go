// Package workload makes the turns that the benchmarks store.
//
// [Coding] and [Chat] return turns of genuine sessions where the folder of real
// data is at hand, and made ones otherwise; [Set.Real] says which. A [Set] is
// endless: turn i is turn i modulo its length with a key of its own, so that any
// count of turns is a stream that takes no memory, and the same i is the same
// turn on every machine.
//
// The folder is found through the environment variable CTXDB_DATA, else as
// ../shared/data beside an ancestor of the working directory.
package workload
