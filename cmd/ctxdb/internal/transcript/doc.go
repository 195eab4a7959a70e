// Package transcript reads the session files of coding agents, one turn at a time.
//
// A [Reader] takes a stream of bytes, finds out by content (never by name) which
// format it is, and yields turns: what the model saw as Content, who said it as
// Role, what it answers as ReplyKey, and the record it came in as Source. Three
// formats are known beside ctxdb's own export: Claude Code, Codex rollouts, and
// plain lines of {"role","content"}. Each lives in a file of its own behind the
// format interface.
//
// # Every byte is kept
//
// A file is gap, record, gap, record, ..., record, tail. A gap is white space or a
// byte order mark; a record is one JSON value, or what should have been one. Each
// turn's Source holds its record and the gap before it, except that a gap of one
// newline, the usual one, is left out and implied. Where the gap is another one
// (nothing, CRLF, a blank line), Source begins with it and the turn has [TagGap].
// A tail of one newline is implied too. Any other tail, a missing final newline
// included, becomes a small meta turn with [TagTail], which counts only while it is
// the last turn of its stream. [Joiner] applies these rules the other way round.
//
// So each snapshot of a growing file is exported exactly, and so is the last one
// after all of them were imported one after another, whether the earlier ones ended
// in a newline or not. One case is not exact: a file that was imported without
// its final newline, and then grew by exactly that newline and nothing more, is
// exported without it until the next record comes.
//
// # What cannot be read
//
// A record that is no JSON but ends with a newline (or is a run of NUL bytes before
// something readable) is kept as a meta turn with [TagUnreadable] and reported as
// well. An unreadable last line without a newline is still being written: it is
// reported and not kept, so that a later import takes the complete one. A record
// beyond the limit is reported and not kept. [LeftOut.Kept] tells these apart. When a
// line starts with a cut record and goes on with a whole one, the cut part is unreadable and
// the rest is read, where the format can tell a record from an object inside one.
//
// # Keys
//
// A turn's key is its stream, a colon, and the record's own id or the hash of its
// bytes; a second record of the same id gets "~2" behind it. The stream is the
// session id found in the first records, so it depends neither on the path nor on
// what follows. Importing a file again therefore yields the same keys, and a grown
// file the same keys first. Two different files of one session that are no prefix of each other share
// a stream: each turn is kept once, in the order of the imports. A file imported
// before its first record with a session id was written gets another stream later.
//
// Turns of ctxdb's own export keep their keys. One that has none gets the hash of all
// that it says, without ids, which are given anew; [HasMadeKey] knows such a key, so
// that an export leaves it out again.
//
// # Memory
//
// One record at a time, of at most [Options.MaxRecordBytes], beside up to 256
// leading records (16 MiB) until format and stream are known, and about 100 bytes a
// record for ids already seen. A Turn's memory belongs to the caller; Content may be
// a part of Source.
package transcript
