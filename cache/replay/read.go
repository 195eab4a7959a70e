package replay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
)

// ErrTrace: the input is no trace. The text says in which line.
var ErrTrace = errors.New("replay: bad trace")

// Limits of a trace that is read.
const (
	MaxLineBytes = 64 << 10
	MaxRefs      = 1 << 27
	MaxItems     = 1 << 26
	MaxSize      = 1 << 40
)

// columns of the two CSV forms. A header is recognised by a name in its first
// field; without one, two fields are id,size and seven or nine are a session's.
var (
	plainColumns   = []string{"id", "size"}
	sessionColumns = []string{"step", "item", "size", "kind", "group", "itemkind", "parent", "from", "to"}
)

// Reader yields the references of a CSV trace as it reads: lines of id,size,
// where an id is any text without a comma, or of
// step,item,size,kind,group,itemkind,parent with optional from,to behind. A
// header line may be there or not. Empty lines are passed over.
//
// Beside the line at hand it keeps the ids seen so far and the size of each.
type Reader struct {
	lines   *bufio.Scanner
	line    int // of the line at hand, from 1
	plain   bool
	known   bool // which form it is
	ids     map[string]Item
	sizes   []int64
	last    Step
	numRefs int
}

// NewReader returns a Reader of src. Nothing is read before All is used.
func NewReader(src io.Reader) *Reader {
	r := &Reader{lines: bufio.NewScanner(src), ids: make(map[string]Item)}
	r.lines.Buffer(make([]byte, 4096), MaxLineBytes)
	return r
}

// IsPlain reports the form, once the first reference has come.
func (r *Reader) IsPlain() bool { return r.plain }

// Items is the number of different items so far.
func (r *Reader) Items() int { return len(r.sizes) }

// All yields the references. An error, ErrTrace or that of the source, is the
// last thing it yields.
func (r *Reader) All() iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		for r.lines.Scan() {
			r.line++
			text := strings.TrimSuffix(r.lines.Text(), "\r")
			if r.line == 1 {
				text = strings.TrimPrefix(text, "\ufeff")
			}
			if text == "" {
				continue
			}
			fields := strings.Split(text, ",")
			if !r.known && r.header(fields) {
				continue
			}
			ref, err := r.ref(fields)
			if err != nil {
				yield(Ref{}, fmt.Errorf("%w: line %d: %w", ErrTrace, r.line, err))
				return
			}
			if !yield(ref, nil) {
				return
			}
		}
		if err := r.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(Ref{}, fmt.Errorf("%w: line %d: longer than %d bytes", ErrTrace, r.line+1, MaxLineBytes))
		} else if err != nil {
			yield(Ref{}, fmt.Errorf("replay: after line %d: %w", r.line, err))
		}
	}
}

// Read reads a whole trace. An input without a reference is ErrTrace.
func Read(name string, src io.Reader) (*Trace, error) {
	r := NewReader(src)
	t := &Trace{Name: name}
	for ref, err := range r.All() {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.Refs = append(t.Refs, ref)
	}
	if len(t.Refs) == 0 {
		return nil, fmt.Errorf("%s: %w: no reference in it", name, ErrTrace)
	}
	t.Items, t.IsPlain = r.Items(), r.plain
	return t, nil
}

// header learns the form from the first line and reports whether that line is
// nothing but a header.
func (r *Reader) header(fields []string) bool {
	r.known = true
	if len(fields) < 2 {
		return false
	}
	r.plain = len(fields) == len(plainColumns)
	want := sessionColumns
	if r.plain {
		want = plainColumns
	}
	return len(fields) <= len(want) && strings.TrimSpace(fields[0]) == want[0] && strings.TrimSpace(fields[1]) == want[1]
}

func (r *Reader) ref(fields []string) (ref Ref, err error) {
	if r.numRefs++; r.numRefs > MaxRefs {
		return ref, fmt.Errorf("more than %d references", MaxRefs)
	}
	if r.plain {
		return r.plainRef(fields)
	}
	return r.sessionRef(fields)
}

func (r *Reader) plainRef(fields []string) (ref Ref, err error) {
	if len(fields) != len(plainColumns) {
		return ref, fmt.Errorf("%d fields where id,size are wanted", len(fields))
	}
	ref.Step, ref.Kind = Step(r.numRefs), Plain
	if ref.Size, err = number(fields[1], "size", 0, MaxSize); err != nil {
		return ref, err
	}
	ref.Item, err = r.item(fields[0], ref.Size)
	ref.Parent = ref.Item
	return ref, err
}

func (r *Reader) sessionRef(fields []string) (ref Ref, err error) {
	if n := len(fields); n != len(sessionColumns) && n != len(sessionColumns)-2 {
		return ref, fmt.Errorf("%d fields, neither id,size nor %s", n, strings.Join(sessionColumns, ","))
	}
	var nums [9]int64
	for i, top := range [9]int64{0: math.MaxInt64, 2: MaxSize, 4: math.MaxInt64, 7: MaxSize, 8: MaxSize} {
		if top == 0 || i >= len(fields) {
			continue
		}
		if nums[i], err = number(fields[i], sessionColumns[i], 0, top); err != nil {
			return ref, err
		}
	}
	ref = Ref{
		Step: Step(nums[0]), Size: nums[2], Group: uint64(nums[4]),
		ItemKind: strings.Clone(fields[5]), From: nums[7], To: nums[8],
	}
	var ok bool
	if ref.Kind, ok = ParseKind(fields[3]); !ok || ref.Kind == Plain {
		return ref, fmt.Errorf("no kind %q, there are %v", fields[3], kindNames[1:])
	}
	if ref.To > ref.Size || ref.From > ref.To {
		return ref, fmt.Errorf("from %d to %d is no part of a size of %d", ref.From, ref.To, ref.Size)
	}
	if ref.Step < r.last {
		return ref, fmt.Errorf("step %d comes after step %d", ref.Step, r.last)
	}
	r.last = ref.Step
	if ref.Item, err = r.item(fields[1], ref.Size); err != nil {
		return ref, err
	}
	if ref.Parent, ok = r.ids[fields[6]]; !ok {
		return ref, fmt.Errorf("parent %q is not known yet", fields[6])
	}
	return ref, nil
}

// item numbers an id. In a session an item is a text, and its size stays; in a
// plain trace it may change, and a resident keeps the one that it came with.
func (r *Reader) item(id string, size int64) (Item, error) {
	it, ok := r.ids[id]
	if !ok {
		if len(r.sizes) == MaxItems {
			return 0, fmt.Errorf("more than %d items", MaxItems)
		}
		it = Item(len(r.sizes))
		r.ids[strings.Clone(id)] = it
		r.sizes = append(r.sizes, size)
	}
	if r.sizes[it] != size && !r.plain {
		return 0, fmt.Errorf("item %s has size %d here and %d before", id, size, r.sizes[it])
	}
	return it, nil
}

func number(s, column string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("column %s: %q is no number from %d to %d", column, s, low, high)
	}
	return n, nil
}
