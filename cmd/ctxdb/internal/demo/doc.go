// Package demo is the first thing to run on a fresh machine: it repeats the
// published demand-paging demo on real turns in a real file, and says what it
// measured beside what was published.
//
// A session of 60 turns of a coding agent is written, by Append, into a ctxdb
// file. Its text was made for this demo; its sizes follow a seed. Then 1,500
// references with the published locality go over it, under a budget of 8,000
// tokens, and each content that comes back is compared with what was appended,
// byte by byte.
//
// Everything but the times follows from the seed. It takes some seconds and
// needs no network.
package demo
