// Package rank finds the turns that a question is about.
//
// A [Part] is an index of consecutive turns: [Memory] serves the log's tail,
// [Reader] an encoded part that [Build] made, of a segment or of several.
// [Model.Search] ranks the turns of many parts as if they were one.
//
// The ranking is BM25 in which a turn has, beside its own words, those of its
// neighbours in the thread: a conversation says what it is about once, and then
// talks about it. A neighbour's word counts less the further away it is; what a
// turn that asks lends to the next one, its answer, counts more; what tools lend
// and borrow counts little. What the question writes as two words may be one in
// the file, and the beginnings of words count a little. On top come
// factors for what is known of the turn: who speaks, whether it asks or tells,
// what it mentions of what the question wants, and its time.
//
// Nothing here reads a turn's content, and there is no I/O but through the
// io.ReaderAt of a Reader.
//
// Caveats that bite:
//
//   - Neighbours are found within a part. Small parts should be merged.
//   - Terms are hashes of 32 bits; counts are rounded to 1, 2, 4 and 8.
//   - A search takes time in proportion to the turns that have its terms, and
//     memory of 8 bytes for each turn of the largest part. What is common among
//     the turns is read for few of them, once the best are known to be better, and
//     parts that can't have a better one are not read.
//   - Many parts are asked by several goroutines, up to GOMAXPROCS. What is found,
//     and each score to the last bit, does not depend on that.
//
// invariant: seats of a part are 0 to Turns-1; each belongs to one run, and runs
// ascend without gaps.
package rank
