package transcript

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrUnknownFormat says that none of the leading records belongs to a known format.
var ErrUnknownFormat = errors.New("unknown transcript format")

// format knows one tool's records. Adding one is a file with its methods and a line in formats.
type format interface {
	name() string
	looksFor() string // completes "looked for ...", for ErrUnknownFormat

	// sniff reports whether only this format, of those listed, has such records.
	sniff(record value) bool

	// stream returns the id that the record gives to its whole file, or "".
	stream(record value) string

	// defaultStream is used where no leading record gave one.
	defaultStream(first []byte) string

	// turn fills in t, whose Source and Thread are set. It gives the key through the
	// linker. An error says why the record, although it is JSON, is no turn.
	turn(record value, t *Turn, l *linker) error

	// keepsRecords tells whether records are the turns' sources, for exact export.
	// Otherwise turns bring sources of their own.
	keepsRecords() bool

	// glued reports whether an object found behind a cut record is surely a record.
	glued(record value) bool
}

// formats in the order in which they are asked; the general ones come last.
func formats() []format {
	return []format{native{}, codex{}, &claude{}, plain{}}
}

// detect returns the first format that claims one of the records.
func detect(records []value) format {
	for _, record := range records {
		for _, f := range formats() {
			if f.sniff(record) {
				return f
			}
		}
	}
	return nil
}

func unknownFormat() error {
	var all []string
	for _, f := range formats() {
		all = append(all, f.name()+" ("+f.looksFor()+")")
	}
	return fmt.Errorf("%w: looked for %s", ErrUnknownFormat, strings.Join(all, ", "))
}

// meta makes t a turn beside the conversation. A model sees nothing of it, so
// that it has no content: the record is its source. Only a format that keeps no
// records has it as content. kind says what the record is.
func (t *Turn) meta(record []byte, kind string) {
	t.Role, t.Content, t.Summary = RoleMeta, nil, clip(kind)
	if t.Source == nil {
		t.Content = record
	}
}

func (t *Turn) tag(tags ...string) {
next:
	for _, tag := range tags {
		for _, have := range t.Tags {
			if have == tag {
				continue next
			}
		}
		t.Tags = append(t.Tags, tag)
	}
}

func (t *Turn) toolTag(name string) {
	if name != "" {
		t.tag("tool:" + clip(name))
	}
}

func (t *Turn) entities(all []string) {
	for _, one := range all {
		known := false
		for _, have := range t.Entities {
			known = known || have == one
		}
		if !known {
			t.Entities = append(t.Entities, one)
		}
	}
}

// summarise names a tool call by what a reader would look for: the tool and its origin.
func (t *Turn) summarise(name string, origins []string) {
	if name == "" || t.Summary != "" {
		return
	}
	t.Summary = clip(name)
	if len(origins) > 0 {
		t.Summary += " " + origins[0]
	}
}

const maxEntityBytes = 256

// clip makes an entity of a path, command or name: its first line, not for ever.
func clip(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = s[:i]
	}
	if len(s) > maxEntityBytes {
		s = strings.ToValidUTF8(s[:maxEntityBytes], "")
	}
	return s
}

// originNames are the members of a tool's input that say what it works on, the most
// telling first.
var originNames = []string{
	"file_path", "notebook_path", "path", "command", "cmd", "pattern", "url", "query",
}

// origins returns what a tool call works on.
func origins(input value) (out []string) {
	var found [8]value
	input.members(func(key string, member value) {
		for i, name := range originNames {
			if key == name {
				found[i] = member
			}
		}
	})
	for _, v := range found {
		text := v.str()
		if v.isArray() {
			text = strings.Join(v.strs(), " ")
		}
		if text = clip(text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// parseTime reads RFC 3339, or a number of seconds or milliseconds since 1970.
func parseTime(v value) time.Time {
	if v.isString() {
		t, err := time.Parse(time.RFC3339Nano, v.str())
		if err != nil {
			return time.Time{}
		}
		return t
	}
	seconds, err := strconv.ParseFloat(string(v), 64)
	switch {
	case err != nil || seconds <= 0 || seconds > 1e14:
		return time.Time{}
	case seconds > 1e11:
		seconds /= 1000
	}
	return time.UnixMicro(int64(seconds * 1e6)).UTC()
}

// onlyText returns the text of content that is one text: a string, or an array with
// one block of one of these types.
func onlyText(content value, blockTypes ...string) ([]byte, bool) {
	if content.isString() {
		return content.text()
	}
	items := content.items()
	if len(items) != 1 {
		return nil, false
	}
	kind := items[0].get("type").str()
	for _, t := range blockTypes {
		if kind == t {
			return items[0].get("text").text()
		}
	}
	return nil, false
}

// textOrRaw is the rule for Content: one text is decoded, all else stays as it came.
func textOrRaw(content value, blockTypes ...string) []byte {
	if text, ok := onlyText(content, blockTypes...); ok {
		return text
	}
	return content
}
