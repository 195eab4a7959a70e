package format

// Long content is cut into parts of about 1,000 tokens, at lines.
const (
	PartSize  = 4096 // bytes of a part, at most, while more follows
	partSlack = 1024 // what is left may be this much longer than a part
	partMin   = 2048 // a line end before this does not make a part

	// SourcePartSize cuts the encoded form of a source, in bytes.
	SourcePartSize = 64 << 10
)

// PartEnd returns the length of the first part of content: SPEC.md section 8.
// It is len(content) for the last one.
func PartEnd(content []byte) int {
	if len(content) <= PartSize+partSlack {
		return len(content)
	}
	for i := PartSize - 1; i >= partMin; i-- {
		if content[i] == '\n' {
			return i + 1
		}
	}
	for i := PartSize; i >= PartSize-3; i-- {
		if content[i]&0xC0 != 0x80 {
			return i
		}
	}
	return PartSize
}

// Parts is the number of parts of content.
func Parts(content []byte) int {
	n := 1
	for end := PartEnd(content); end < len(content); end = PartEnd(content) {
		content = content[end:]
		n++
	}
	return n
}
