package format

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

// fuzzCodec runs a decoder on the bytes as they come, and again with their
// checksums made right: else nothing behind the checksum would ever be tried.
// What decodes must encode to the same bytes, but for what readers ignore, and
// decode again. Decoding must not change its input.
//
// Structures of 4 KiB are slow to minimize: fuzz with -fuzzminimizetime 1x.
func fuzzCodec(f *testing.F, names ...string) {
	c := map[string]codec{}
	for _, name := range names {
		c[name] = codecNamed(f, name)
	}
	for _, v := range readVectors(f) {
		for which, name := range names {
			if v.Structure == name {
				f.Add(byte(which), v.Body)
			}
		}
	}
	reserved := specTables(f)
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		name := names[int(which)%len(names)]
		if err := c[name].try(data, reserved, false); err != nil {
			t.Fatalf("%s as it is: %v", name, err)
		}
		if c[name].seal != nil {
			if err := c[name].try(data, reserved, true); err != nil {
				t.Fatalf("%s sealed: %v", name, err)
			}
		}
	})
}

func (c codec) try(data []byte, reserved map[string][]specRow, seal bool) error {
	v := baseVector(c)
	v.Body = bytes.Clone(data)
	if seal {
		c.seal(&v)
	}
	body := bytes.Clone(v.Body)
	allocated := allocatedBytes()
	again, err := c.decode(&v)
	// The re-encoded bytes are in it, and at most a stand-in for a source.
	if limit := uint64(8*len(data) + 8<<20); allocatedBytes()-allocated > limit {
		return fmt.Errorf("more than %d bytes allocated for %d", limit, len(data))
	}
	if !bytes.Equal(v.Body, body) {
		return fmt.Errorf("the decoder changed its input")
	}
	switch classOf(err) {
	case "ok":
	case "none", "corrupt", "version", "not-ctxdb":
		return nil
	default:
		return fmt.Errorf("an error of no class: %w", err)
	}
	if c.name == "source" {
		return nil // it decoded to the source whose hash it was held against
	}
	if c.table != "" {
		clearReserved(v.Body, reserved[c.table])
	}
	if c.canon != nil {
		c.canon(&v)
	}
	if c.seal != nil {
		c.seal(&v)
	}
	n := min(len(again), len(v.Body)) // what lies behind the structure is not its own
	if !bytes.Equal(again[:n], v.Body[:n]) {
		return fmt.Errorf("encodes to %x, was %x", again, v.Body)
	}
	if _, err := c.decode(&v); err != nil {
		return fmt.Errorf("what was encoded does not decode: %w", err)
	}
	return nil
}

func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func FuzzSuperblock(f *testing.F)    { fuzzCodec(f, "superblock") }
func FuzzHolder(f *testing.F)        { fuzzCodec(f, "holder") }
func FuzzLogEdge(f *testing.F)       { fuzzCodec(f, "log-header", "log-trailer") }
func FuzzFrame(f *testing.F)         { fuzzCodec(f, "frame") }
func FuzzLeaf(f *testing.F)          { fuzzCodec(f, "leaf") }
func FuzzRoot(f *testing.F)          { fuzzCodec(f, "root") }
func FuzzSegmentHeader(f *testing.F) { fuzzCodec(f, "segment-header") }
func FuzzBlock(f *testing.F)         { fuzzCodec(f, "block") }
func FuzzIndexPage(f *testing.F)     { fuzzCodec(f, "index-page") }
func FuzzSections(f *testing.F)      { fuzzCodec(f, "section-table") }
func FuzzFooter(f *testing.F)        { fuzzCodec(f, "footer") }
func FuzzMeta(f *testing.F)          { fuzzCodec(f, "record") }
func FuzzPiece(f *testing.F)         { fuzzCodec(f, "pieces") }

// FuzzSource decodes any bytes against any content, and holds the encoder to
// giving every source back.
func FuzzSource(f *testing.F) {
	for _, v := range readVectors(f) {
		if v.Structure == "source" {
			f.Add(v.Body, v.Content, uint32(v.Args["length"]))
		}
	}
	f.Fuzz(func(t *testing.T, encoded, content []byte, length uint32) {
		length %= 1 << 20
		source, err := DecodeSource([]byte("before"), encoded, content, int(length), 100)
		if err == nil && (len(source) != 6+int(length) || string(source[:6]) != "before") {
			t.Fatalf("%d bytes, want %d", len(source), length)
		}
		if class := classOf(err); class != "ok" && class != "corrupt" {
			t.Fatal(err)
		}
		for _, source := range [][]byte{encoded, append(appendEscaped(bytes.Clone(encoded), content), content...)} {
			enc := EncodeSource(nil, source, content)
			if again, err := DecodeSource(nil, enc, content, len(source), 0); err != nil || !bytes.Equal(again, source) {
				t.Fatalf("%v: %d bytes of %d", err, len(again), len(source))
			}
			if len(enc) > len(source)+11+len(source)/8 {
				t.Fatalf("%d bytes became %d", len(source), len(enc))
			}
		}
	})
}
