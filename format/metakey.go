package format

// MetaKey finds the key in the meta part that b begins with, without decoding the
// rest. The key is b's memory; empty: the turn has none. ok is false where the key
// or what stands before it breaks the rules.
func MetaKey(b []byte) (key []byte, ok bool) {
	if len(b) < 8 {
		return nil, false
	}
	d := decoder{b: b, p: 8}
	flags := d.bounded(flagsEnd - 1)
	d.bounded(MaxContent)
	d.bounded(MaxTokens)
	for range 2 { // role, thread
		d.bytes(d.bounded(MaxName))
	}
	if flags&flagTime != 0 {
		d.varint()
		d.uvarint()
		d.varint()
	}
	if flags&flagSource != 0 {
		d.bounded(MaxSource)
		d.uint64()
	}
	if flags&flagReplyTo != 0 {
		d.within(1, MaxTurns)
	}
	if flags&flagKey != 0 {
		key = d.bytes(d.within(1, MaxKey))
	}
	if d.bad {
		return nil, false
	}
	return key, true
}
