package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// codec makes all decoders look alike for vectors, cuts, bit flips and fuzzing.
type codec struct {
	name  string
	table string // of SPEC.md, for its reserved fields; "" for none
	base  func() (body []byte, a args)
	// seal sets the checksums for the bytes as they are; nil: there is none.
	seal func(v *vector)
	// decode returns the bytes that what it read encodes to.
	decode func(v *vector) (again []byte, err error)
	// free reports whether no checksum of the structure protects byte i.
	free func(body []byte, i int) bool
	// canon clears what readers ignore, beside the reserved fields of table.
	canon func(v *vector)
}

// errNone is what decoders mean that say "not ok" and nothing else.
var errNone = errors.New("none")

func classOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, errNone):
		return "none"
	case errors.Is(err, ErrNotCtxdb):
		return "not-ctxdb"
	case errors.Is(err, ErrVersion):
		return "version"
	case errors.Is(err, ErrCorrupt):
		return "corrupt"
	}
	return "other: " + err.Error()
}

func orNone(ok bool) error {
	if ok {
		return nil
	}
	return errNone
}

func nothing([]byte, int) bool    { return false }
func everything([]byte, int) bool { return true }

func codecs() []codec {
	return slices.Concat(leadingCodecs(), catalogCodecs(), logCodecs(), segmentCodecs(), turnCodecs())
}

func codecNamed(t testing.TB, name string) codec {
	t.Helper()
	for _, c := range codecs() {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("no structure %q", name)
	return codec{}
}

// put writes a checksum in little-endian at the end of a field list.
func put(b []byte, at int, sum uint64) {
	if len(b) >= at+8 {
		binary.LittleEndian.PutUint64(b[at:], sum)
	}
}

func leadingCodecs() []codec {
	return []codec{{
		name: "superblock", table: "superblock", free: nothing,
		base: func() ([]byte, args) {
			s := fixSuperblock()
			return s.Encode(SlotB), args{"at": SlotB}
		},
		seal: func(v *vector) {
			if len(v.Body) >= SuperblockSize {
				put(v.Body, 4088, bind(UUID(v.Body[40:56]), KindSuperblock, binary.LittleEndian.Uint64(v.Body[56:]), v.Args["at"], v.Body[:4088]))
			}
		},
		decode: func(v *vector) ([]byte, error) {
			s, err := DecodeSuperblock(v.Body, int64(v.Args["at"]))
			if err != nil {
				return nil, err
			}
			return s.Encode(int64(v.Args["at"])), nil
		},
		canon: func(v *vector) {
			n := int(binary.LittleEndian.Uint32(v.Body[144:]))
			for i := range n {
				clear(v.Body[152+i*64+40 : 152+i*64+64])
			}
			clear(v.Body[152+n*64 : 664])
		},
	}, {
		name: "holder", table: "holder", free: nothing,
		base: func() ([]byte, args) { return fixHolder().Encode(), nil },
		seal: func(v *vector) {
			if len(v.Body) >= HolderSize {
				put(v.Body, 4088, Hash(v.Body[:4088]))
			}
		},
		decode: func(v *vector) ([]byte, error) {
			h, ok := DecodeHolder(v.Body)
			return h.Encode(), orNone(ok)
		},
		canon: func(v *vector) { clear(v.Body[26+int(binary.LittleEndian.Uint16(v.Body[24:])) : 281]) },
	}}
}

func catalogCodecs() []codec {
	return []codec{{
		name: "leaf", table: "leaf", free: nothing,
		base: func() ([]byte, args) {
			b, sum := EncodeLeaf(fixUUID, fixLeaf, fixSegmentEntries())
			return b, args{"at": fixLeaf, "sum": sum}
		},
		seal: func(v *vector) {
			if len(v.Body) >= LeafSize {
				v.Args["sum"] = bind(fixUUID, KindLeaf, 0, v.Args["at"], v.Body[:4088])
				put(v.Body, 4088, v.Args["sum"])
			}
		},
		decode: func(v *vector) ([]byte, error) {
			entries, err := DecodeLeaf(v.Body, fixUUID, int64(v.Args["at"]), v.Args["sum"])
			if err != nil {
				return nil, err
			}
			b, _ := EncodeLeaf(fixUUID, int64(v.Args["at"]), entries)
			return b, nil
		},
		canon: func(v *vector) { clear(v.Body[32+int(binary.LittleEndian.Uint32(v.Body[8:]))*112 : 4064]) },
	}, {
		name: "root", table: "root", free: nothing,
		base: func() ([]byte, args) {
			b, sum := fixRootValue().Encode(fixUUID, fixRoot)
			return b, args{"at": fixRoot, "sum": sum}
		},
		seal: func(v *vector) {
			if n := len(v.Body) - 8; n >= 0 {
				v.Args["sum"] = bind(fixUUID, KindRoot, 0, v.Args["at"], v.Body[:n])
				put(v.Body, n, v.Args["sum"])
			}
		},
		decode: func(v *vector) ([]byte, error) {
			r, err := DecodeRoot(v.Body, fixUUID, int64(v.Args["at"]), v.Args["sum"])
			if err != nil {
				return nil, err
			}
			b, _ := r.Encode(fixUUID, int64(v.Args["at"]))
			return b, nil
		},
		canon: canonRoot,
	}}
}

// canonRoot clears the reserved fields of the entries and what is behind them,
// and drops whole extent units that nothing needs.
func canonRoot(v *vector) {
	le := binary.LittleEndian
	p := rootHeaderSize
	for _, sort := range []struct{ count, size, used int }{{8, 32, 28}, {12, 64, 52}, {16, 32, 32}, {20, 64, 64}} {
		for range le.Uint32(v.Body[sort.count:]) {
			clear(v.Body[p+sort.used : p+sort.size])
			p += sort.size
		}
	}
	v.Body = v.Body[:AlignUp(int64(p)+8)]
	clear(v.Body[p:])
}

func logCodecs() []codec {
	edge := func(trailer bool) codec {
		name, at := "log-header", func(x LogExtent) uint64 { return uint64(x.Offset) }
		if trailer {
			name, at = "log-trailer", func(x LogExtent) uint64 { return uint64(x.Offset + x.Length - LogEdge) }
		}
		_, kind, _ := logEdge(fixExtent(), trailer)
		return codec{
			name: name, table: "extent header",
			base: func() ([]byte, args) { return EncodeLogEdge(fixUUID, fixExtent(), trailer), nil },
			seal: func(v *vector) {
				if len(v.Body) >= LogEdge {
					put(v.Body, 56, bind(fixUUID, kind, binary.LittleEndian.Uint64(v.Body[32:]), at(fixExtent()), v.Body[:56]))
				}
			},
			decode: func(v *vector) ([]byte, error) {
				return EncodeLogEdge(fixUUID, fixExtent(), trailer), CheckLogEdge(v.Body, fixUUID, fixExtent(), trailer)
			},
			free: func(_ []byte, i int) bool { return i >= 64 },
		}
	}
	return []codec{edge(false), edge(true), {
		name: "frame", table: "frame header",
		base: func() ([]byte, args) {
			payload := []byte("three turns, as far as a frame can tell")
			f := fixFrameHeader(len(payload))
			b := make([]byte, FrameSize(len(payload)))
			copy(b[FrameHeaderSize:], payload)
			PutFrame(b, fixUUID, fixFrame, &f)
			return b, args{"at": fixFrame, "room": 0x1000, "salt": fixSalt}
		},
		seal: sealFrame,
		decode: func(v *vector) ([]byte, error) {
			f, ok := DecodeFrame(v.Body, fixUUID, v.Args["salt"], int64(v.Args["at"]), int64(v.Args["room"]))
			if !ok {
				return nil, errNone
			}
			if !f.BodyIntact(v.Body, fixUUID, int64(v.Args["at"])) {
				return nil, Corruptf("frame body", int64(v.Args["at"]), "sum differs")
			}
			b := bytes.Clone(v.Body)
			PutFrame(b, fixUUID, int64(v.Args["at"]), &f)
			return b, nil
		},
		free: func(b []byte, i int) bool { return i >= FrameHeaderSize+int(fixFrameLength(b)) },
	}}
}

func fixFrameLength(b []byte) uint32 { return binary.LittleEndian.Uint32(b[4:]) }

func sealFrame(v *vector) {
	if len(v.Body) < FrameHeaderSize {
		return
	}
	le := binary.LittleEndian
	at, b := v.Args["at"], v.Body
	head := bind(fixUUID, KindFrameHeader, le.Uint64(b[40:]), at, b[:48])
	put(b, 48, head)
	if end := FrameHeaderSize + int64(fixFrameLength(b)); end <= int64(len(b)) {
		put(b, 56, bind(fixUUID, KindFrameBody, head, at, b[FrameHeaderSize:end]))
	}
}
