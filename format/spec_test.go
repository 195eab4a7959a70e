package format

import (
	"bytes"
	"encoding/binary"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// specRow is a row of an `Offset | Size | Field` table.
type specRow struct {
	offset, size   int
	field, meaning string
}

const tableHead = "| Offset | Size | Field |"

func specText(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("../SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// specTables returns the byte tables of SPEC.md by the bold name above each.
func specTables(t testing.TB) map[string][]specRow {
	t.Helper()
	tables := map[string][]specRow{}
	bold := regexp.MustCompile(`^\*\*([^*]+)\*\*`)
	name, in := "", false
	for line := range strings.Lines(specText(t)) {
		line = strings.TrimSpace(line)
		if m := bold.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		switch {
		case strings.HasPrefix(line, tableHead):
			if tables[name] != nil {
				t.Fatalf("SPEC.md has two tables called %q", name)
			}
			in, tables[name] = true, []specRow{}
		case !strings.HasPrefix(line, "|"):
			in = false
		case in && !strings.HasPrefix(line, "|---"):
			tables[name] = append(tables[name], parseRow(t, line))
		}
	}
	return tables
}

func parseRow(t testing.TB, line string) specRow {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) < 4 {
		t.Fatalf("row %q has %d cells", line, len(cells))
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	offset, err1 := strconv.Atoi(cells[0])
	size, err2 := strconv.Atoi(cells[1])
	if err1 != nil || err2 != nil {
		t.Fatalf("row %q: offset or size is no number", line)
	}
	return specRow{offset, size, cells[2], strings.Join(cells[3:], "|")}
}

// clearReserved zeroes what the table calls reserved.
func clearReserved(b []byte, rows []specRow) {
	for _, r := range rows {
		if r.field == "reserved" {
			clear(b[r.offset : r.offset+r.size])
		}
	}
}

// binding is the one table that no layout describes: see TestSpecChecksums.
func TestSpecTablesAreKnown(t *testing.T) {
	tables := specTables(t)
	known := map[string]int{"binding": bindingSize}
	for _, l := range layouts() {
		if _, twice := known[l.table]; twice {
			t.Errorf("two layouts for %q", l.table)
		}
		known[l.table] = l.size
	}
	for name, size := range known {
		rows, ok := tables[name]
		if !ok {
			t.Errorf("SPEC.md has no table %q", name)
			continue
		}
		end := 0
		for _, r := range rows {
			if r.offset != end || r.size < 1 {
				t.Errorf("%s: row %q has %d bytes at %d, the row above ends at %d", name, r.field, r.size, r.offset, end)
			}
			end = r.offset + r.size
		}
		if end != size {
			t.Errorf("%s: %d bytes in SPEC.md, %d in Go", name, end, size)
		}
	}
	for name := range tables {
		if _, ok := known[name]; !ok {
			t.Errorf("table %q of SPEC.md is not known here", name)
		}
	}
}

// The rows are those of the layout, and the Go fields stand in their order.
func TestSpecOrder(t *testing.T) {
	tables := specTables(t)
	for _, l := range layouts() {
		var rows, want []string
		for _, r := range tables[l.table] {
			if r.field != "reserved" {
				rows = append(rows, r.field)
			}
		}
		typ, last, listed := reflect.TypeOf(l.base).Elem(), -1, slices.Clone(l.elsewhere)
		for _, f := range l.fields {
			want = append(want, f.row)
			if f.name == "" {
				continue
			}
			sf, ok := typ.FieldByName(f.name)
			if !ok {
				t.Errorf("%s: %v has no field %s", l.table, typ, f.name)
				continue
			}
			if sf.Index[0] <= last && !l.anyOrder {
				t.Errorf("%s: field %s of %v stands too early", l.table, f.name, typ)
			}
			last = sf.Index[0]
			listed = append(listed, f.name)
		}
		if !slices.Equal(rows, want) {
			t.Errorf("%s: rows %q in SPEC.md, %q here", l.table, rows, want)
		}
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && !slices.Contains(listed, f.Name) {
				t.Errorf("%s: field %s of %v has no row", l.table, f.Name, typ)
			}
		}
	}
}

// Each field lies where the table says, in little-endian, and nowhere else.
func TestSpecCodecs(t *testing.T) {
	tables := specTables(t)
	for _, l := range layouts() {
		t.Run(l.table, func(t *testing.T) {
			rows := map[string]specRow{}
			for _, r := range tables[l.table] {
				rows[r.field] = r
			}
			base := l.copy()
			whole := l.encode(base)
			zeroed := bytes.Clone(whole[:l.size])
			clearReserved(zeroed, tables[l.table])
			if !bytes.Equal(zeroed, whole[:l.size]) {
				t.Error("a reserved byte is not zero")
			}
			l.checkBack(t, whole, base, "")
			for _, f := range l.fields {
				row := rows[f.row]
				if f.name == "" || f.derived {
					continue
				}
				l.checkRow(t, f, row, base, whole)
				changed := l.copy()
				v := reflect.ValueOf(changed).Elem().FieldByName(f.name)
				f.change(v, row.size)
				b := l.encode(changed)
				l.checkRow(t, f, row, changed, b)
				l.checkElsewhere(t, f, rows, whole, b)
				if !f.refused {
					l.checkBack(t, b, changed, f.name)
				}
			}
		})
	}
}

func (l *layout) checkRow(t *testing.T, f layoutField, row specRow, x any, b []byte) {
	t.Helper()
	want := fieldBytes(t, reflect.ValueOf(x).Elem().FieldByName(f.name), row.size, f.unit)
	if got := b[row.offset : row.offset+row.size]; !bytes.Equal(got, want) {
		t.Errorf("%s: bytes %d to %d are %x, want %x", f.row, row.offset, row.offset+row.size, got, want)
	}
}

// checkElsewhere: a change of f changes its row, and else only derived ones.
func (l *layout) checkElsewhere(t *testing.T, f layoutField, rows map[string]specRow, old, changed []byte) {
	t.Helper()
	moved := false
	for _, o := range l.fields {
		r := rows[o.row]
		same := bytes.Equal(old[r.offset:r.offset+r.size], changed[r.offset:r.offset+r.size])
		if o.row == f.row {
			moved = !same
		} else if !same && o.name != "" && !o.derived {
			t.Errorf("%s: a change of it changed %s", f.row, o.row)
		}
	}
	if !moved {
		t.Errorf("%s: a change of it is not in the bytes", f.row)
	}
}

func (l *layout) checkBack(t *testing.T, b []byte, want any, field string) {
	t.Helper()
	got, err := l.decode(b)
	if err != nil {
		t.Errorf("decoding with another %s: %v", field, err)
	} else if !reflect.DeepEqual(got, reflect.ValueOf(want).Elem().Interface()) {
		t.Errorf("decoding with another %s: got %+v, want %+v", field, got, want)
	}
}

// fieldBytes is what the table says of a value: size bytes in little-endian.
func fieldBytes(t testing.TB, v reflect.Value, size int, unit int64) []byte {
	var u uint64
	switch x := v.Interface().(type) {
	case UUID:
		return x[:]
	case string:
		return append([]byte(x), make([]byte, size-len(x))...)
	case time.Time:
		u = uint64(x.UnixNano())
	case []LogExtent:
		b := make([]byte, size)
		for i := range x {
			x[i].encode(b[i*logEntrySize:])
		}
		return b
	case []SegmentEntry:
		b := make([]byte, size)
		for i := range x {
			x[i].encode(b[i*segmentEntrySize:])
		}
		return b
	case []KeyEntry:
		b := make([]byte, size)
		for i := range x {
			PutKeyEntry(b, i, x[i])
		}
		return b
	default:
		if v.CanInt() {
			u = uint64(v.Int() / unit)
		} else if v.CanUint() {
			u = v.Uint()
		} else {
			t.Fatalf("no bytes for a %v", v.Type())
		}
	}
	b := binary.LittleEndian.AppendUint64(nil, u)
	return b[:size]
}
