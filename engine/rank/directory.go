package rank

import (
	"encoding/binary"

	"ctxdb/engine/lex"
)

// entry is a term in the directory.
type entry struct {
	rest   uint64
	count  int
	same   lex.Term // with a count of 0: the term that has the same postings
	single Posting  // with a count of 1
	at     int64    // in the postings
	length int      // of the postings in bytes
}

// find looks a term up in the directory.
func (p *Reader) find(t lex.Term) (found entry, ok bool, err error) {
	found, ok, err = p.findSame(t)
	if p.doubts(err) {
		return p.findSame(t)
	}
	return found, ok, err
}

// findSame finds a term, or the one that has the same postings.
func (p *Reader) findSame(t lex.Term) (found entry, ok bool, err error) {
	if found, ok, err = p.findOwn(t); !ok || err != nil || found.count > 0 {
		return found, ok, err
	}
	same := found.same
	if found, ok, err = p.findOwn(same); err == nil && (!ok || found.count == 0) {
		err = corrupt(p.h.directoryAt(), "term %x has the postings of %x, which has none", t, same)
	}
	return found, ok, err
}

// findOwn finds a term, which may have the postings of another one.
func (p *Reader) findOwn(t lex.Term) (found entry, ok bool, err error) {
	rest := p.h.restOf(t)
	err = p.entries(p.h.bucketOf(t), func(e entry) bool {
		found, ok = e, e.rest == rest
		return e.rest < rest
	})
	return found, ok, err
}

// entries decodes a bucket until yield returns false.
func (p *Reader) entries(bucket int, yield func(entry) bool) error {
	from, at := p.bucket(bucket)
	to, postingsEnd := p.bucket(bucket + 1)
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	b := s.room(int(to - from))
	start := p.h.directoryAt() + from
	if err := p.read(b, start); err != nil {
		return err
	}
	last, first := uint64(0), true
	for i := 0; i < len(b); {
		e, n := p.entry(b[i:])
		if n == 0 || !first && e.rest <= last || int64(e.length) > postingsEnd-at {
			return corrupt(start+int64(i), "directory entry")
		}
		last, first = e.rest, false
		e.at = at
		at += int64(e.length)
		i += n
		if !yield(e) {
			return nil
		}
	}
	if at != postingsEnd {
		return corrupt(start+int64(len(b)), "postings without an entry")
	}
	return nil
}

// entry decodes an entry; n is 0 where it is not one.
func (p *Reader) entry(b []byte) (e entry, n int) {
	n = p.h.restBytes()
	if len(b) < n {
		return e, 0
	}
	for _, c := range b[:n] {
		e.rest = e.rest<<8 | uint64(c)
	}
	count, k := binary.Uvarint(b[n:])
	if k <= 0 || count > uint64(p.h.turns) || e.rest>>p.h.restBits() != 0 {
		return e, 0
	}
	n += k
	e.count = int(count)
	if count == 0 {
		if len(b) < n+4 {
			return e, 0
		}
		e.same = lex.Term(binary.BigEndian.Uint32(b[n:]))
		return e, n + 4
	}
	x, k := binary.Uvarint(b[n:])
	if k <= 0 {
		return e, 0
	}
	if count == 1 {
		if x>>2 >= uint64(p.h.turns) {
			return e, 0
		}
		e.single = Posting{uint32(x >> 2), countLevels[x&3]}
	} else if e.length = int(x); x < count || x > p.h.postingsLength {
		return e, 0
	}
	return e, n + k
}

// appendDecoded decodes count postings that fill b.
func appendDecoded(dst []Posting, b []byte, count int, turns uint32, at int64) ([]Posting, error) {
	seat := uint64(0)
	i := 0
	for n := range count {
		var x uint64
		if i < len(b) && b[i] < 0x80 {
			x = uint64(b[i])
			i++
		} else {
			v, k := binary.Uvarint(b[i:])
			if k <= 0 {
				return dst, corrupt(at+int64(i), "posting")
			}
			x, i = v, i+k
		}
		if x>>2 >= uint64(turns) || x>>2 == 0 && n > 0 {
			return dst, corrupt(at+int64(i), "posting beyond its part")
		}
		if seat += x >> 2; seat >= uint64(turns) {
			return dst, corrupt(at+int64(i), "posting beyond its part")
		}
		dst = append(dst, Posting{uint32(seat), countLevels[x&3]})
	}
	if i != len(b) {
		return dst, corrupt(at+int64(i), "bytes behind the last posting")
	}
	return dst, nil
}
