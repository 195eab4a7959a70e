package transcript

import (
	"errors"
	"strconv"
	"strings"
)

// native reads ctxdb's own export, which MarshalTurn writes: its turns come back as they
// were, with their keys, threads and sources.
type native struct{}

func (native) name() string { return "ctxdb" }

func (native) looksFor() string { return `"id" and "tokens" with "role" and "content"` }

func (native) sniff(record value) bool {
	_, hasID := record.get("id").uint()
	_, hasTokens := record.get("tokens").uint()
	return hasID && hasTokens && record.get("role").isString() &&
		(record.get("content").isString() || record.get("content_base64").isString())
}

func (f native) glued(record value) bool { return f.sniff(record) }

func (native) keepsRecords() bool { return false }

// stream only serves turns without a key; it is the same for all exports.
func (native) stream(value) string { return "ctxdb" }

func (native) defaultStream([]byte) string { return "ctxdb" }

const maxKeyBytes = 1 << 10

// keylessHash tells turns without a key apart by all that they say, whatever ids the
// exporting file gave them.
func keylessHash(t Turn) string {
	t.ID, t.Key, t.Tokens, t.ReplyTo, t.ReplyKey = 0, "", 0, 0, ""
	line, err := MarshalTurn(t)
	if err != nil { // a time that was not read from JSON
		line = t.Content
	}
	return hexHash(line)
}

// HasMadeKey reports whether a turn had no key in the export that it was imported from:
// its key is the one that a Reader makes then, and would make again.
func HasMadeKey(t Turn) bool {
	part, ok := strings.CutPrefix(t.Key, native{}.stream(nil)+":h")
	if !ok {
		return false
	}
	hash, _, _ := strings.Cut(part, "~")
	return hash == keylessHash(t)
}

// turn turns ids of the exporting file into keys, because ids are given anew.
func (native) turn(record value, t *Turn, l *linker) error {
	parsed, err := parseTurn(record)
	if err != nil {
		return err
	}
	if len(parsed.Key) > maxKeyBytes {
		return errors.New("the key exceeds the limit of " + strconv.Itoa(maxKeyBytes) + " bytes")
	}
	reply, ok := l.call("key " + parsed.ReplyKey)
	if !ok {
		reply, _ = l.call("id " + strconv.FormatUint(parsed.ReplyTo, 10))
	}
	parsed.ReplyKey = reply.key
	if parsed.Key == "" {
		parsed.Key = l.take("h" + keylessHash(parsed))
	}
	l.called("key "+parsed.Key, toolCall{key: parsed.Key})
	if parsed.ID != 0 {
		l.called("id "+strconv.FormatUint(parsed.ID, 10), toolCall{key: parsed.Key})
	}
	*t = parsed
	return nil
}
