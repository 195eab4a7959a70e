package segment

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"ctxdb/format"
)

func dictionaryAndFrame(t testing.TB) (dictionary, frame, text []byte) {
	t.Helper()
	text = bytes.Repeat([]byte("the agent reads main.go, edits it, and runs go test ./... again; it fails no more. "), 20)
	e, err := dictEncoder(0, text[:1000], [][]byte{text})
	if err != nil {
		t.Fatal(err)
	}
	frame, codec := e.encode(text)
	if codec != format.CodecZstdDict {
		t.Fatal("no frame with a dictionary")
	}
	return e.dictionary, bytes.Clone(frame), text
}

// FuzzDictionary: a dictionary of anything is refused or used, and gives the same
// each time it is made into a decoder.
func FuzzDictionary(f *testing.F) {
	dictionary, frame, text := dictionaryAndFrame(f)
	f.Add(dictionary, frame)
	f.Add(dictionary[:300], frame)
	f.Add([]byte{0x37, 0xA4, 0x30, 0xEC, 1, 0, 0, 0}, frame)
	f.Fuzz(func(t *testing.T, dictionary, frame []byte) {
		if len(dictionary) > format.MaxBlockRaw || len(frame) > 1<<16 {
			t.Skip("more than a file can have, or than is tried")
		}
		decode := func() (out []byte, ok bool) {
			d, err := newDecoder(dictionary)
			if err != nil {
				return nil, false
			}
			defer d.Close()
			return decodeStored(nil, frame, format.CodecZstdDict, uint32(len(text)), d)
		}
		first, ok := decode()
		if second, again := decode(); ok != again || ok && !bytes.Equal(first, second) {
			t.Errorf("%d bytes, %t, then %d, %t", len(first), ok, len(second), again)
		}
	})
}

// A dictionary that no frame can name is where the damage is, not each block.
func TestDictionaryOfAnotherID(t *testing.T) {
	dictionary, _, _ := dictionaryAndFrame(t)
	for _, id := range []byte{format.DictionaryID, 2} {
		dictionary = bytes.Clone(dictionary)
		dictionary[4] = id
		b := append(make([]byte, format.BlockHeaderSize), dictionary...)
		var s Segment
		format.PutBlockHeader(b, s.uuid, s.entry.Nonce, format.SegmentHeaderSize, &format.BlockHeader{
			Stored: uint32(len(dictionary)), Raw: uint32(len(dictionary)), Stream: format.StreamDictionary, Codec: format.CodecRaw,
		})
		_, _, err := s.decodeDictionary(b, format.SegmentHeaderSize)
		if id == format.DictionaryID && err != nil || id != format.DictionaryID && !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("id %d: %v", id, err)
		}
	}
}

// Every flipped bit of a dictionary's tables is refused when it is loaded or when
// it decodes, or gives other bytes: none goes unnoticed but in tables that the frame
// does not use, and there is no panic and no hang.
func TestFlippedDictionary(t *testing.T) {
	dictionary, frame, text := dictionaryAndFrame(t)
	tables := len(dictionary) - 1000
	if d, err := newDecoder(dictionary); err != nil {
		t.Fatal(err)
	} else if out, ok := decodeStored(nil, frame, format.CodecZstdDict, uint32(len(text)), d); !ok || !bytes.Equal(out, text) {
		t.Fatal("the sound dictionary does not decode")
	}
	refused, spoiled := 0, 0
	for bit := range tables * 8 {
		b := bytes.Clone(dictionary)
		b[bit/8] ^= 1 << (bit % 8)
		d, err := newDecoder(b)
		if err != nil {
			refused++
			continue
		}
		if out, ok := decodeStored(nil, frame, format.CodecZstdDict, uint32(len(text)), d); !ok || !bytes.Equal(out, text) {
			spoiled++
		}
		d.Close()
	}
	t.Logf("%d of %d flipped bits are refused, %d spoil what is decoded", refused, tables*8, spoiled)
	if refused < tables*8/2 || spoiled == 0 {
		t.Error("too few are noticed")
	}
}

// What the cache counts for a decoder is what it takes, within a quarter.
func TestDecoderCost(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef the agent reads main.go and edits it "), 2200)[:maxDictionary]
	e, err := dictEncoder(0, text, [][]byte{text[:4096]})
	if err != nil {
		t.Fatal(err)
	}
	frame, _ := e.encode(text[1000:5000])
	frame = bytes.Clone(frame)
	const n = 100
	var before, after runtime.MemStats
	caches := NewDecoderCache(1 << 40)
	segs := make([]Segment, n)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range segs {
		d, err := newDecoder(e.dictionary)
		if err != nil {
			t.Fatal(err)
		}
		caches.add(&segs[i].decoder, d, len(e.dictionary), nil)
		if _, ok := decodeStored(nil, frame, format.CodecZstdDict, 4000, d); !ok {
			t.Fatal("does not decode")
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	took, counted := int64(after.HeapAlloc-before.HeapAlloc)/n, caches.Bytes()/n
	t.Logf("a decoder takes %d bytes, %d are counted", took, counted)
	if took > counted*5/4 || took < counted*3/4 {
		t.Errorf("a decoder takes %d bytes, %d are counted", took, counted)
	}
	runtime.KeepAlive(segs)
}
