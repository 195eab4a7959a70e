package segment

import (
	"bytes"
	"testing"

	"ctxdb/format"
	"ctxdb/segment/zdict"
)

// wrongEncoder makes frames that do not decode to what they were made of: it
// compresses with one dictionary, and readers have another.
func wrongEncoder(t *testing.T, text []byte) *encoder {
	t.Helper()
	e, err := dictEncoder(0, text, [][]byte{text})
	if err != nil {
		t.Fatal(err)
	}
	other, err := dictEncoder(0, bytes.Repeat([]byte{'?'}, len(text)), [][]byte{text})
	if err != nil {
		t.Fatal(err)
	}
	e.decoder = other.decoder
	return e
}

// A block that an encoder spoils is stored as it is: what is acknowledged must
// be put away, smaller or not.
func TestSpoiledBlockIsStoredRaw(t *testing.T) {
	text := []byte("the agent reads main.go, edits it, and runs go test ./... again; it fails no more")
	e := wrongEncoder(t, text)
	if stored, codec := e.encode(text); codec != format.CodecZstdDict || e.verified(text, stored, codec) {
		t.Fatalf("codec %d: the encoder is not wrong", codec)
	}
	p, err := squeeze(e, makeBlockKey(3, 0), text)
	if err != nil {
		t.Fatal(err)
	}
	if p.codec != format.CodecRaw || p.raw != len(text) || !bytes.Equal(p.stored, text) {
		t.Errorf("codec %d, %d bytes of %d", p.codec, len(p.stored), p.raw)
	}
	text[0] ^= 1
	if bytes.Equal(p.stored, text) {
		t.Error("the block shares the packer's memory")
	}
}

// panicking is an encoder with a fault.
type panicking struct{}

func (panicking) EncodeAll(src, dst []byte) []byte { return append(dst, src[len(src)]) }

// A panic of an encoder ends neither the program nor what is put away: it would
// come again at every Open. The next block is compressed as ever.
func TestPanicOfEncoderIsStoredRaw(t *testing.T) {
	text := bytes.Repeat([]byte("the agent reads main.go, and reads it again; "), 20)
	e := plainEncoder(plainLevel)
	right := e.frames
	e.frames = panicking{}
	p, err := squeeze(e, makeBlockKey(3, 0), text)
	if err != nil || p.codec != format.CodecRaw || !bytes.Equal(p.stored, text) {
		t.Fatalf("codec %d, %d bytes of %d: %v", p.codec, len(p.stored), p.raw, err)
	}
	e.frames = right
	if p, err = squeeze(e, makeBlockKey(3, 0), text); err != nil || p.codec != format.CodecZstd {
		t.Errorf("codec %d: %v", p.codec, err)
	}
}

// Whatever ends the choice of a dictionary, the sources beside do not wait for
// it for ever.
func TestPanicOfContentsIsHeard(t *testing.T) {
	chosen := make(chan []byte, 1)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic: this test proves nothing")
			}
		}()
		b := &builder{o: BuildOptions{}.withDefaults()}
		b.contents(make([]Turn, 1), chosen) // a turn without bytes, which Build refuses
	}()
	select {
	case <-chosen:
	default:
		t.Error("nothing was said of the dictionary")
	}
}

// A block that is too large for the dictionary's encoder does without it.
func TestLargeBlockWithoutDictionary(t *testing.T) {
	text := bytes.Repeat([]byte("the agent reads main.go and edits it; "), 100)
	e, err := dictEncoder(0, text, [][]byte{text})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]format.Codec{zdict.MaxBlock: format.CodecZstdDict, zdict.MaxBlock + 1: format.CodecZstd, format.MaxBlockRaw: format.CodecZstd} {
		block := bytes.Repeat(text, n/len(text)+1)[:n]
		p, err := squeeze(e, makeBlockKey(1, 0), block)
		if err != nil || p.codec != want || len(p.stored) > n/20 {
			t.Errorf("%d bytes: codec %d, %d bytes, %v", n, p.codec, len(p.stored), err)
		}
	}
}
