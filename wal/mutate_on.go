//go:build ctxdbmutate

// This file is no part of any normal build. A harness that finds nothing
// proves nothing: built with the tag ctxdbmutate, it takes a check out of
// recovery on purpose and must then notice.

package wal

import (
	"encoding/binary"
	"fmt"

	"ctxdb/format"
)

var (
	mutateLSN     bool // LSNs may have gaps
	mutateIDs     bool // the first id of a frame need not be the expected one
	mutateSalt    bool // frames of other cycles count
	mutateHead    bool // the sum of a frame header is not compared
	mutateBody    bool // the sum of a payload is not compared
	mutatePromise bool // no promise is believed: damage is a torn tail
	mutateEdge    bool // header and trailer are not compared
)

// Mutate switches off the check of that name: lsn, ids, salt, head, body,
// promise or edge. The function returned switches it on again. Not for
// concurrent use.
func Mutate(name string) (restore func()) {
	check := map[string]*bool{
		"lsn": &mutateLSN, "ids": &mutateIDs, "salt": &mutateSalt, "head": &mutateHead,
		"body": &mutateBody, "promise": &mutatePromise, "edge": &mutateEdge,
	}[name]
	if check == nil {
		panic(fmt.Sprintf("no check is called %q", name))
	}
	*check = true
	return func() { *check = false }
}

func decodeFrame(b []byte, uuid format.UUID, salt uint64, at, room int64) (format.Frame, bool) {
	if len(b) < format.FrameHeaderSize {
		return format.Frame{}, false
	}
	le := binary.LittleEndian
	if mutateSalt {
		salt = le.Uint64(b[40:])
	}
	if !mutateHead {
		return format.DecodeFrame(b, uuid, salt, at, room)
	}
	head := append([]byte(nil), b[:format.FrameHeaderSize]...)
	le.PutUint64(head[48:], format.Bind(uuid, format.KindFrameHeader, salt, uint64(at), format.Hash(head[:48])))
	f, ok := format.DecodeFrame(head, uuid, salt, at, room)
	f.HeadSum = le.Uint64(b[48:]) // the body is bound to what was written
	return f, ok
}
