package replay

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// WriteCSV writes the trace with a header, in the form that Read reads back
// equal, but for the numbers of steps in a plain trace.
func (t *Trace) WriteCSV(w io.Writer) error {
	out := bufio.NewWriter(w)
	columns := sessionColumns
	if t.IsPlain {
		columns = plainColumns
	}
	out.WriteString(strings.Join(columns, ",") + "\n") // errors stay until Flush
	var line []byte
	for i := range t.Refs {
		line = t.Refs[i].appendCSV(line[:0], t.IsPlain)
		out.Write(line)
	}
	return out.Flush()
}

func (r *Ref) appendCSV(line []byte, plain bool) []byte {
	num := func(n int64, end byte) { line = append(strconv.AppendInt(line, n, 10), end) }
	if plain {
		num(int64(r.Item), ',')
		num(r.Size, '\n')
		return line
	}
	num(int64(r.Step), ',')
	num(int64(r.Item), ',')
	num(r.Size, ',')
	line = append(append(line, r.Kind.String()...), ',')
	num(int64(r.Group), ',')
	line = append(append(line, r.ItemKind...), ',')
	num(int64(r.Parent), ',')
	num(r.From, ',')
	num(r.To, '\n')
	return line
}
