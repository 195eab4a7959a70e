package segment_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/segment"
)

var testUUID = format.UUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

func identity(firstID uint64) segment.Identity {
	return segment.Identity{UUID: testUUID, Number: 7, Nonce: 0xABCDEF0123456789, FirstID: firstID}
}

// packed makes a segment's turn of a turn.
func packed(t testing.TB, turn format.Turn) segment.Turn {
	t.Helper()
	if err := turn.Validate(); err != nil {
		t.Fatal(err)
	}
	meta := format.AppendMeta(nil, &turn)
	r, n, err := format.DecodeMeta(meta, 0)
	if err != nil || n != len(meta) {
		t.Fatalf("meta of %d bytes: %d, %v", len(meta), n, err)
	}
	return segment.Turn{Meta: meta, Record: r, Content: turn.Content, Source: turn.Source}
}

var words = strings.Fields("the agent reads a file and finds that cache invalidation returns an error when the window moves past budget so it edits main.go runs go test ./... again and reports panic nil pointer dereference goroutine running func return err != nil { } log.Printf")

func prose(rng *rand.Rand, n int) []byte {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[rng.IntN(len(words))])
		if rng.IntN(9) == 0 {
			fmt.Fprintf(&b, " %x\n", rng.Uint32())
		} else {
			b.WriteByte(' ')
		}
	}
	return []byte(b.String()[:n])
}

// generated makes turns of all sorts: empty, short, long, incompressible, with
// and without each optional field.
func generated(t testing.TB, seed uint64, n int) []segment.Turn {
	rng := rand.New(rand.NewPCG(seed, 1))
	turns := make([]segment.Turn, n)
	for i := range turns {
		size := []int{0, 1, 40, 155, 900, 4000, 5120, 5121, 9000, 30000}[rng.IntN(10)]
		turn := format.Turn{Role: []string{"user", "assistant", "meta"}[rng.IntN(3)], Thread: "main", Tokens: uint64(size / 4), Content: prose(rng, size)}
		if rng.IntN(10) == 0 {
			for j := range turn.Content {
				turn.Content[j] = byte(rng.Uint32())
			}
		}
		if rng.IntN(2) == 0 {
			turn.Key = fmt.Sprintf("key-%d-%d", seed, i)
			turn.Time = time.Unix(1_700_000_000+int64(i), int64(rng.IntN(1e9))).UTC()
		}
		if rng.IntN(3) == 0 {
			turn.Source = []byte(fmt.Sprintf("{\"uuid\":\"%x\",\"content\":%q,\"seq\":%d}\n", rng.Uint64(), turn.Content, i))
		}
		if rng.IntN(8) == 0 {
			turn.Source = []byte{}
			turn.Decision, turn.Summary, turn.Entities, turn.Tags = true, "decided", []string{"main.go", "cache"}, []string{"x"}
			turn.Embedding = make([]float32, 64)
			for j := range turn.Embedding {
				turn.Embedding[j] = rng.Float32()
			}
		}
		if i > 0 && rng.IntN(4) == 0 {
			turn.ReplyTo = 1 + rng.Uint64N(uint64(i))
		}
		turns[i] = packed(t, turn)
	}
	return turns
}

func build(t testing.TB, firstID uint64, turns []segment.Turn, o segment.BuildOptions) *segment.Built {
	t.Helper()
	b, err := segment.Build(identity(firstID), turns, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// onDisk writes bytes at an offset of a new file of the operating system.
func onDisk(t testing.TB, b []byte, offset int64) (disk.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "turns.ctxdb")
	if err := os.WriteFile(path, append(make([]byte, offset), b...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := disk.OS.Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, path
}

func opened(t testing.TB, b *segment.Built, offset int64, o segment.OpenOptions) *segment.Segment {
	t.Helper()
	f, path := onDisk(t, b.Bytes, offset)
	e := b.Entry
	e.Offset = offset
	s := segment.Open(f, path, testUUID, e, o)
	t.Cleanup(s.Close)
	return s
}

// byteFile is a file of bytes in memory, without a mapping.
type byteFile struct {
	disk.File
	b []byte
}

func (f *byteFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(f.b)) {
		return 0, io.EOF
	}
	n := copy(p, f.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *byteFile) Size() (int64, error) { return int64(len(f.b)), nil }
