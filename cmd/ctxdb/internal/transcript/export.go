package transcript

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// ErrBadTurn says that a line is no turn as MarshalTurn writes it.
var ErrBadTurn = errors.New("not an exported turn")

// MarshalTurn returns t as one line of JSON without its newline. ParseTurn gives back
// every field, byte for byte. Fields without a value are left out, except id, role,
// tokens and content. What is no valid UTF-8 stands in a member of the same name with
// "_base64" behind it; "source_is_content" stands for a source of the same bytes. It
// fails only on a time that RFC 3339 cannot write.
func MarshalTurn(t Turn) ([]byte, error) {
	b := make([]byte, 0, 256+len(t.Content)+len(t.Content)/8+len(t.Source)+len(t.Source)/4)
	b = strconv.AppendUint(append(b, `{"id":`...), t.ID, 10)
	b = appendIf(b, "key", t.Key)
	b = appendIf(b, "thread", t.Thread)
	b = appendText(b, "role", t.Role)
	if !t.Time.IsZero() {
		text, err := t.Time.MarshalText()
		if err != nil {
			return nil, fmt.Errorf("transcript: turn %d: %w", t.ID, err)
		}
		b = appendText(b, "time", string(text))
	}
	b = strconv.AppendInt(appendName(b, "tokens", ""), int64(max(t.Tokens, 0)), 10)
	if t.Decision {
		b = append(appendName(b, "decision", ""), "true"...)
	}
	b = appendIf(b, "summary", t.Summary)
	b = appendList(b, "entities", t.Entities)
	b = appendList(b, "tags", t.Tags)
	if t.ReplyTo != 0 {
		b = strconv.AppendUint(appendName(b, "reply_to", ""), t.ReplyTo, 10)
	}
	b = appendIf(b, "reply_key", t.ReplyKey)
	b = appendEmbedding(b, t.Embedding)
	b = appendIf(b, "embedding_model", t.EmbeddingModel)
	b = appendText(b, "content", string(t.Content))
	switch {
	case t.Source == nil:
	case len(t.Source) > 0 && string(t.Source) == string(t.Content):
		b = append(appendName(b, "source_is_content", ""), "true"...)
	default:
		b = appendText(b, "source", string(t.Source))
	}
	return append(b, '}'), nil
}

func appendName(b []byte, name, suffix string) []byte {
	return append(append(append(append(b, `,"`...), name...), suffix...), `":`...)
}

func appendIf(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendText(b, name, text)
}

func appendText(b []byte, name, text string) []byte {
	if utf8.ValidString(text) {
		return appendString(appendName(b, name, ""), text)
	}
	return appendBase64(appendName(b, name, "_base64"), []byte(text))
}

func appendBase64(b, data []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), data), '"')
}

// appendString escapes only what JSON demands, so that a line stays readable.
func appendString(b []byte, text string) []byte {
	b = append(b, '"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

func appendList(b []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	valid := true
	for _, s := range list {
		valid = valid && utf8.ValidString(s)
	}
	suffix := ""
	if !valid {
		suffix = "_base64"
	}
	b = append(appendName(b, name, suffix), '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if valid {
			b = appendString(b, s)
		} else {
			b = appendBase64(b, []byte(s))
		}
	}
	return append(b, ']')
}

// appendEmbedding writes numbers, or little-endian float32s where JSON has no number.
func appendEmbedding(b []byte, vector []float32) []byte {
	if len(vector) == 0 {
		return b
	}
	var raw []byte
	finite := true
	for _, x := range vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		finite = finite && !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0)
	}
	if !finite {
		return appendBase64(appendName(b, "embedding", "_base64"), raw)
	}
	b = append(appendName(b, "embedding", ""), '[')
	for i, x := range vector {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return append(b, ']')
}
