// Package measure is what the benchmarks measure with: durations of single
// operations, what this process has used, and the page cache, which can be made
// to forget files on Linux.
package measure
