package transcript

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseTurn reads a line that MarshalTurn wrote. Members it does not know are ignored,
// and id may be absent.
// Errors wrap ErrBadTurn.
func ParseTurn(line []byte) (Turn, error) {
	n, err := scanValue(line)
	if err != nil {
		return Turn{}, fmt.Errorf("%w: %w", ErrBadTurn, err)
	}
	if skipSpace(line, n) != len(line) {
		return Turn{}, fmt.Errorf("%w: more than one JSON value", ErrBadTurn)
	}
	return parseTurn(line[:n])
}

// turnParser collects the first complaint.
type turnParser struct {
	turn Turn
	has  map[string]bool
	err  error
}

func parseTurn(v value) (Turn, error) {
	p := turnParser{has: make(map[string]bool, 16)}
	v.members(func(key string, v value) {
		p.has[key] = true
		if !p.member(key, v) && p.err == nil {
			p.err = fmt.Errorf("%w: member %q has no valid value", ErrBadTurn, key)
		}
	})
	switch {
	case p.err != nil:
		return Turn{}, p.err
	case !p.has["role"] && !p.has["role_base64"] || !p.has["content"] && !p.has["content_base64"]:
		return Turn{}, fmt.Errorf("%w: role and content are needed", ErrBadTurn)
	}
	if p.has["source_is_content"] {
		p.turn.Source = append([]byte{}, p.turn.Content...)
	}
	return p.turn, nil
}

func (p *turnParser) member(key string, v value) (ok bool) {
	t := &p.turn
	switch key {
	case "id":
		t.ID, ok = v.uint()
	case "tokens":
		var n uint64
		n, ok = v.uint()
		t.Tokens, ok = int(n), ok && n <= math.MaxInt32
	case "reply_to":
		t.ReplyTo, ok = v.uint()
	case "decision":
		t.Decision, ok = v.isTrue(), v.isTrue() || string(v) == "false"
	case "source_is_content":
		ok = v.isTrue()
	case "time":
		t.Time, ok = parseExactTime(v)
	case "embedding", "embedding_base64":
		t.Embedding, ok = parseEmbedding(v)
	case "entities", "tags", "entities_base64", "tags_base64":
		ok = p.list(key, v)
	default:
		ok = p.text(key, v)
	}
	return ok
}

func (p *turnParser) text(key string, v value) bool {
	t := &p.turn
	decode, name := value.text, key
	if plain, isBase64 := cutBase64(key); isBase64 {
		decode, name = value.base64, plain
	}
	targets := map[string]*string{
		"key": &t.Key, "thread": &t.Thread, "role": &t.Role, "summary": &t.Summary, "reply_key": &t.ReplyKey,
		"embedding_model": &t.EmbeddingModel,
	}
	target := targets[name]
	if target == nil && name != "content" && name != "source" {
		return true // a member of a later version
	}
	data, ok := decode(v)
	switch name {
	case "content":
		t.Content = data
	case "source":
		t.Source = data
	default:
		*target = string(data)
	}
	return ok
}

func cutBase64(key string) (name string, isBase64 bool) {
	return strings.CutSuffix(key, "_base64")
}

func (p *turnParser) list(key string, v value) bool {
	decode := value.text
	name, isBase64 := cutBase64(key)
	if isBase64 {
		decode = value.base64
	}
	var list []string
	for _, item := range v.items() {
		data, ok := decode(item)
		if !ok {
			return false
		}
		list = append(list, string(data))
	}
	if name == "tags" {
		p.turn.Tags = list
	} else {
		p.turn.Entities = list
	}
	return v.isArray()
}

func parseExactTime(v value) (t time.Time, ok bool) {
	text, ok := v.text()
	ok = ok && t.UnmarshalText(text) == nil
	return t, ok
}

func parseEmbedding(v value) (vector []float32, ok bool) {
	if raw, isBase64 := v.base64(); isBase64 {
		for ; len(raw) >= 4; raw = raw[4:] {
			vector = append(vector, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
		return vector, len(raw) == 0
	}
	for _, item := range v.items() {
		x, err := strconv.ParseFloat(string(item), 32)
		if err != nil {
			return nil, false
		}
		vector = append(vector, float32(x))
	}
	return vector, v.isArray()
}
