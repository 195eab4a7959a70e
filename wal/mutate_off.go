//go:build !ctxdbmutate

package wal

import "ctxdb/format"

// The checks that the mutation control can switch off. In every normal build
// they are on, and constant: see mutate_on.go.
const (
	mutateLSN     = false
	mutateIDs     = false
	mutateSalt    = false
	mutateBody    = false
	mutatePromise = false
	mutateEdge    = false
)

func decodeFrame(b []byte, uuid format.UUID, salt uint64, at, room int64) (format.Frame, bool) {
	return format.DecodeFrame(b, uuid, salt, at, room)
}
