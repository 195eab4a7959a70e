package transcript

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Ids beyond these are replaced by their hash, so that a key stays below 1 KiB.
const (
	maxStreamBytes = 512
	maxIDBytes     = 256
)

// linker gives keys and remembers what later turns may refer to. It keeps hashes
// under a random seed: nobody can make two ids meet.
type linker struct {
	stream string
	seed   maphash.Seed
	count  map[uint64]uint32 // how often the id of that hash was given
	calls  map[uint64]toolCall
}

// toolCall is what a result takes over from its call.
type toolCall struct {
	key     string
	name    string
	origins []string
}

func newLinker(stream string) *linker {
	return &linker{
		stream: stream,
		seed:   maphash.MakeSeed(),
		count:  make(map[uint64]uint32),
		calls:  make(map[uint64]toolCall),
	}
}

// streamID makes a session id fit for the start of a key.
func streamID(id string) string {
	if len(id) > maxStreamBytes || !isPrintable(id) {
		return "x" + hexHash([]byte(id))
	}
	return id
}

// StreamOf returns the stream in a key that a Reader made: all turns of one file share
// it. It returns "" for other keys.
func StreamOf(key string) string {
	if i := strings.LastIndexByte(key, ':'); i >= 0 {
		return key[:i]
	}
	return ""
}

func hexHash(b []byte) string { return fmt.Sprintf("%016x", xxhash.Sum64(b)) }

func isPrintable(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r == '\uFFFD' {
			return false
		}
	}
	return true
}

// local makes the part of a key behind the stream. The two characters with a meaning
// of their own, ":" and "~", never come from an id.
func local(id string) string {
	if len(id) > maxIDBytes || strings.ContainsAny(id, ":~") || !isPrintable(id) {
		return "x" + hexHash([]byte(id))
	}
	return id
}

// idKey is the key of the record with that id, or of its bytes if it has none.
func (l *linker) idKey(id string, record []byte) string {
	if id == "" {
		return l.take("h" + hexHash(record))
	}
	return l.take(local(id))
}

// tailKey ties a tail to the turn before it: each growth of a file has its own.
func (l *linker) tailKey(after string, tail []byte) string {
	return l.take("t" + hexHash(append([]byte(after+"\n"), tail...)))
}

func (l *linker) take(part string) string {
	h := maphash.String(l.seed, part)
	l.count[h]++
	if n := l.count[h]; n > 1 {
		part = fmt.Sprintf("%s~%d", part, n)
	}
	return l.stream + ":" + part
}

// earlier returns the key of the first turn with that id, or "" if none came so far.
func (l *linker) earlier(id string) string {
	if id == "" {
		return ""
	}
	part := local(id)
	if l.count[maphash.String(l.seed, part)] == 0 {
		return ""
	}
	return l.stream + ":" + part
}

// called remembers a tool call under the id that its result will name.
func (l *linker) called(id string, c toolCall) {
	if id != "" {
		l.calls[maphash.String(l.seed, id)] = c
	}
}

func (l *linker) call(id string) (toolCall, bool) {
	c, ok := l.calls[maphash.String(l.seed, id)]
	return c, ok && id != ""
}
