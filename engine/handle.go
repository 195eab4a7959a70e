package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ctxdb/format"
)

// Handle is the line that stands for a turn that is cold, or in the window only
// in part: enough for a model to tell whether it wants the turn back, and by
// which name to ask for it.
//
//	#42 tool_result Read src/table.go 2025-03-01 09:07 1,850 tokens: loadTable errShort glacier
//
// What it says behind the colon: the caller's summary where there is one; all of
// a short turn; of a longer one the terms that tell it from the other
// candidates, and before them how it begins where it is long and nobody's tool
// wrote it.
type Handle struct {
	ID       TurnID
	Role     string
	Tool     string // from the tag "tool:" of a call or result
	Origin   string // first of the Entities: a path, a command, an address
	Time     time.Time
	Tokens   int // of the whole turn
	Parts    int // pages of the turn; 1 or 0: not cut
	Here     []int
	Decision bool
	Summary  string   // the caller's
	Text     string   // the content, where the line has room for all of it
	Lead     string   // how a long text begins, where there is no summary
	Terms    []string // most telling first

	Bytes int // the line is at most so long; 0: HandleBytes
}

// HandleBytes is how long a handle's line is at most, where nothing else is said.
const HandleBytes = 160

const minHandleBytes = 48

// String is the handle's line, without a newline. It has at most Bytes bytes,
// and 48 where that is less.
func (h Handle) String() string {
	limit := h.limit()
	line := h.head()
	if said := h.said(limit - len(line) - len(": ")); said != "" {
		line += ": " + said
	}
	return clipLine(line, limit)
}

func (h *Handle) limit() int {
	if h.Bytes == 0 {
		return HandleBytes
	}
	return max(h.Bytes, minHandleBytes)
}

// head names kind, origin, time and cost.
func (h *Handle) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d", h.ID)
	word := func(s string) {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			b.WriteByte(' ')
			b.WriteString(s)
		}
	}
	word(clipLine(h.Role, 24))
	word(clipLine(h.Tool, 24))
	if h.Decision {
		word("[decision]")
	}
	word(shortOrigin(h.Origin, h.limit()/3))
	if !h.Time.IsZero() {
		word(h.Time.Format("2006-01-02 15:04"))
	}
	word(thousands(h.Tokens) + " tokens")
	if n := len(h.Here); n > 0 && n < h.Parts {
		word("(" + h.partsHere() + ")")
	}
	return b.String()
}

// partsHere says which parts are resident, and how to name one of the others.
func (h *Handle) partsHere() string {
	var spans []string
	missing, next := -1, 0
	for i := 0; i < len(h.Here); {
		j := i
		for j+1 < len(h.Here) && h.Here[j+1] == h.Here[j]+1 {
			j++
		}
		if missing < 0 && h.Here[i] > next {
			missing = next
		}
		next = h.Here[j] + 1
		span := strconv.Itoa(h.Here[i])
		if j > i {
			span += "-" + strconv.Itoa(h.Here[j])
		}
		spans = append(spans, span)
		i = j + 1
	}
	if missing < 0 {
		missing = next
	}
	if len(spans) > 4 {
		spans = append(spans[:3], "...")
	}
	return fmt.Sprintf("parts %s of 0-%d here, get #%d.%d", strings.Join(spans, ","), h.Parts-1, h.ID, missing)
}

// said is what stands behind the colon.
func (h *Handle) said(room int) string {
	var parts []string
	about := cmp.Or(h.Summary, h.Lead)
	switch {
	case h.Text != "":
		return clipLine(h.Text, room)
	case about != "" && len(h.Terms) > 0:
		s := clipLine(about, room*2/3)
		parts, room = append(parts, s+" |"), room-len(s)-2
	case about != "":
		return clipLine(about, room)
	}
	for _, t := range h.Terms {
		if len(t)+1 > room {
			continue
		}
		parts, room = append(parts, t), room-len(t)-1
	}
	return strings.TrimSuffix(strings.Join(parts, " "), " |")
}

// shortOrigin keeps the end of a path, which tells more than its start, and the
// start of a command.
func shortOrigin(s string, limit int) string {
	if len(s) > limit && !strings.Contains(s, " ") {
		cut := len(s) - limit + len("…")
		if i := strings.IndexByte(s[cut:], '/'); i >= 0 && i < limit/2 {
			cut += i
		}
		for cut < len(s) && !utf8.RuneStart(s[cut]) {
			cut++
		}
		return "…" + s[cut:]
	}
	return clipLine(s, limit)
}

// clipLine is a text on one line, cut to a number of bytes.
func clipLine(s string, limit int) string {
	if limit < len("…") {
		return ""
	}
	return clip([]byte(s), limit)
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Handle is the handle of one turn, told from those around it in its thread.
// Errors are those of Get.
func (db *DB) Handle(id TurnID) (Handle, error) {
	around := []TurnID{id}
	for near := max(id, 4) - 3; near <= id+3; near++ {
		if near != id {
			around = append(around, near)
		}
	}
	all, err := db.handles(context.Background(), around, 1, HandleBytes)
	if err != nil {
		return Handle{}, err
	}
	return all[0], nil
}

// Handles are the handles of turns, in their order, with the terms that tell
// each from the others of the list. Turns that can't be read are left out where
// the others can; the error is the first one's where none can, or the
// context's.
func (db *DB) Handles(ctx context.Context, ids []TurnID) ([]Handle, error) {
	return db.handles(ctx, ids, 0, HandleBytes)
}

// handles makes the handles of ids, told from all of them. must is how many at
// the front have to be there; the others only make a difference.
func (db *DB) handles(ctx context.Context, ids []TurnID, must, limitBytes int) ([]Handle, error) {
	var all []Handle
	var firstErr error
	err := db.doSettled(func(v *view) error {
		x, err := db.newDistinguisher(v)
		if err != nil {
			return err
		}
		all, firstErr = make([]Handle, 0, len(ids)), nil
		for i, id := range ids {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			t, err := v.get(uint64(id))
			switch {
			case err == nil:
				all = append(all, newHandle(id, &t, limitBytes))
				x.add(&t)
			case i < must || isRetired(err):
				return err
			case firstErr == nil:
				firstErr = err
			}
		}
		if len(all) == 0 && firstErr != nil {
			return firstErr
		}
		for i := range all {
			h := &all[i]
			room, told := h.room(), h.head()
			if h.Lead != "" {
				room, told = room-len(h.Lead)-len(" |"), told+" "+h.Lead
			}
			if h.Terms, err = x.terms(i, room, told); err != nil {
				return indexError(err)
			}
		}
		return nil
	})
	if err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		return nil, fmt.Errorf("handle: %w", err)
	}
	return all, nil
}

func newHandle(id TurnID, t *format.Turn, limitBytes int) Handle {
	h := Handle{
		ID: id, Role: t.Role, Time: t.Time, Tokens: int(t.Tokens), Decision: t.Decision, Summary: t.Summary,
		Parts: format.Parts(t.Content), Bytes: limitBytes,
	}
	if len(t.Entities) > 0 {
		h.Origin = t.Entities[0]
	}
	if saysOnlyWhere(h.Summary, t.Tags, h.Origin) {
		h.Summary = ""
	}
	for _, tag := range t.Tags {
		if tool, ok := strings.CutPrefix(tag, toolTag); ok && h.Tool == "" {
			h.Tool = tool
		}
	}
	if room := h.room(); len(t.Content) <= 2*room && h.Summary == "" && utf8.Valid(t.Content) {
		if line := strings.Join(strings.Fields(string(t.Content)), " "); len(line) <= room {
			h.Text = line
		}
	}
	if room := h.room(); h.Summary == "" && h.Tool == "" && len(t.Content) > longContent*room {
		h.Lead = firstWords(t.Content, room/2)
	}
	return h
}

// longContent is how many times what a line has room for a content must be to
// have its beginning told. Of shorter ones the terms alone tell nearly all.
const longContent = 4

// firstWords are the whole words at the beginning of a content that have room.
func firstWords(content []byte, room int) string {
	if room <= 0 {
		return ""
	}
	line := strings.Join(strings.Fields(strings.ToValidUTF8(string(content[:min(len(content), 8*room)]), "")), " ")
	if len(line) <= room {
		return line
	}
	return line[:max(strings.LastIndexByte(line[:room+1], ' '), 0)]
}

// saysOnlyWhere is true of a summary that repeats tool and origin.
func saysOnlyWhere(summary string, tags []string, origin string) bool {
	for _, tag := range tags {
		if tool, ok := strings.CutPrefix(tag, toolTag); ok {
			summary = strings.TrimSpace(strings.TrimPrefix(summary, tool))
		}
	}
	return summary == origin
}

// room is how many bytes the line has behind the colon, where all of the
// turn is cold.
func (h *Handle) room() int { return h.limit() - len(h.head()) - len(": ") }
