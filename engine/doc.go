// Package engine keeps the memory of an AI agent in one file.
//
// Open a file, append turns, get them back:
//
//	db, err := engine.Open("agent.ctxdb", nil)
//	ids, err := db.Append(ctx, engine.Turn{Role: "user", Content: []byte("hello")})
//	turn, err := db.Get(ids[0])
//
// A [DB] is an open file. A [Turn] is one message, named by its [TurnID] and
// optionally by a key of the caller's. A [Window] is a strict-budget set of
// resident turns: what the model sees now; a reference to a turn that is not in
// it is a fault, served from the file in microseconds.
//
// Search needs no model. An [Embedder] makes it find other words for a thing too,
// and a [Selector] picks what a prompt fetches: see package openai. Contents leave
// the machine only by DB.Embed or Options.EmbedTurns, questions by searches.
//
// What is promised:
//
//   - Append is atomic, and durable when it returns (with the default sync
//     policy). What was acknowledged is never lost, altered or invented.
//   - One process writes at a time; any number read at the same time, and
//     neither waits for the other.
//   - A DB, and a Window, may be used by many goroutines. Reads take no lock
//     that a writer holds.
//   - Returned memory belongs to the caller.
//
// Caveats that bite:
//
//   - After a failed write or sync a DB refuses further writes with
//     [ErrBroken]. Close it and open it again: recovery is automatic.
//   - Close a DB. A process that dies loses nothing, but the next open has to
//     recover, and the file keeps its log until then.
//   - Network file systems often have no working locks; don't share a file
//     between machines.
//
// invariant: a view is never changed after it was published; readers load it
// once per operation.
// invariant: no space that either superblock reaches is overwritten.
// invariant: a turn is visible only after its group's sync returned (policy
// always), and stays visible until Close.
package engine
