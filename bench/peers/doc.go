// Command peers does the same work with ctxdb, with the stores that one would
// otherwise take, and with nothing but the system calls that the work needs at
// least, in one run on one machine.
//
//	go run . [-quick] [-json] [-plot out.svg]
//	go run . -scale 1000000
//
// The work: turns of real coding sessions where the folder of real data is at
// hand, each with content, key, role, thread and time, found by number and by
// key. An append is one transaction and durable when it returns; an import is
// transactions of 1,000 turns, each durable, and the close.
//
// What is measured is a [peer]; it opens a [store]. Each measurement is a phase
// and runs in a process of its own, so that allocations and peak memory are
// those of one store; rounds go through all peers in turn (A B C A B C), so that
// a noisy machine disturbs all alike, and medians over the rounds are reported.
// Appends alternate with the floor one by one.
//
// What ctxdb does beside, within the same time: it counts tokens, refuses a
// second use of a key, compresses with a dictionary, checks each block by
// decoding it, and builds the index that search and handles read. The peers do
// none of this, but for SQLite's unique keys and the block compression of Pebble
// and Badger.
//
// It is a module of its own, so that its dependencies reach no user of ctxdb.
// Without cgo the peer sqlite-mattn is left out, with a message.
package main
