package main

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"ctxdb/engine"
)

// The key-value stores keep a turn as lengths and bytes, its content last, and
// find it under its number in big endian. A second record leads from its key to
// its number.

var errRecord = errors.New("record cut short")

func appendRecord(dst []byte, t *engine.Turn) []byte {
	dst = binary.AppendVarint(dst, t.Time.UnixNano())
	for _, s := range []string{t.Key, t.Thread, t.Role} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	return append(dst, t.Content...)
}

// recordContent is the content of a record; it shares its memory.
func recordContent(record []byte) ([]byte, error) {
	_, n := binary.Varint(record)
	if n <= 0 {
		return nil, errRecord
	}
	record = record[n:]
	for range 3 {
		size, n := binary.Uvarint(record)
		if n <= 0 || size > uint64(len(record)-n) {
			return nil, errRecord
		}
		record = record[n+int(size):]
	}
	return record, nil
}

func recordTurn(record []byte) (t engine.Turn, err error) {
	nano, n := binary.Varint(record)
	if n <= 0 {
		return t, errRecord
	}
	record, t.Time = record[n:], time.Unix(0, nano)
	for _, field := range []*string{&t.Key, &t.Thread, &t.Role} {
		size, n := binary.Uvarint(record)
		if n <= 0 || size > uint64(len(record)-n) {
			return t, errRecord
		}
		*field = string(record[n:][:size])
		record = record[n+int(size):]
	}
	t.Content = slices.Clone(record)
	return t, nil
}

func idKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// prefixed keys are for stores with one key space.
func turnKey(id uint64) []byte  { return binary.BigEndian.AppendUint64([]byte{'t'}, id) }
func nameKey(key string) []byte { return append([]byte{'k'}, key...) }
func idOf(b []byte) (uint64, bool) { // the number at the end of a key or in a value
	if len(b) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(b[len(b)-8:]), true
}
