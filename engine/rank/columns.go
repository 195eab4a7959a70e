package rank

import (
	"encoding/binary"
	"math"
	"sync"

	"ctxdb/engine/lex"
)

// parseColumns decodes what lies between header and buckets.
func parseColumns(h *header, b []byte) (*Columns, error) {
	c := &Columns{}
	if err := parseRuns(h, b[:h.runsLength], c); err != nil {
		return nil, err
	}
	n := int(h.turns)
	c.Lengths = make([]uint32, n)
	c.Times, c.Who, c.Cues = make([]int64, n), make([]uint16, n), make([]lex.Cue, n)
	d := columnDecoder{b: b[:int64(h.runsLength)+int64(h.columnsLength)], i: int(h.runsLength)}
	if err := d.ordinals(h, c); err != nil {
		return nil, err
	}
	for i := range n {
		c.Lengths[i] = uint32(d.number(math.MaxUint16))
	}
	last := h.baseTime
	for i := range n {
		c.Times[i] = NoTime
		if x := d.number(math.MaxUint64); x != 0 {
			x--
			last += int64(x>>1) ^ -int64(x&1)
			c.Times[i] = last
		}
	}
	for i := range n {
		c.Who[i] = uint16(d.number(uint64(h.speakers) - 1))
	}
	if len(d.b)-d.i != n {
		d.bad = true
	}
	if d.bad {
		return nil, corrupt(headerSize+int64(d.i), "columns of %d turns", n)
	}
	for i, cue := range d.b[d.i:] {
		c.Cues[i] = lex.Cue(cue)
	}
	return c, nil
}

// columnDecoder walks the columns.
type columnDecoder struct {
	b   []byte
	i   int
	bad bool
}

// number is a uvarint up to most.
func (d *columnDecoder) number(most uint64) uint64 {
	if d.i < len(d.b) && d.b[d.i] < 0x80 && uint64(d.b[d.i]) <= most {
		d.i++
		return uint64(d.b[d.i-1])
	}
	x, n := binary.Uvarint(d.b[d.i:])
	if n <= 0 || x > most {
		d.bad, d.b = true, d.b[:d.i]
		return 0
	}
	d.i += n
	return x
}

// ordinals are the seats, or stored: those of a thread in their order.
func (d *columnDecoder) ordinals(h *header, c *Columns) error {
	if h.flags&flagOrdinals == 0 {
		c.Ordinals = seatsUpTo(int(h.turns))
		return nil
	}
	c.Ordinals = make([]uint32, h.turns)
	last := int64(0)
	for i := range c.Ordinals {
		x := d.number(2 * math.MaxUint32)
		last += int64(x>>1) ^ -int64(x&1)
		if last < 0 || last > math.MaxUint32 {
			return corrupt(headerSize+int64(d.i), "ordinal %d", last)
		}
		c.Ordinals[i] = uint32(last)
	}
	return checkOrdinals(h, c)
}

func parseRuns(h *header, b []byte, c *Columns) error {
	seat := uint64(0)
	for i := range int(h.runs) {
		turns := binary.LittleEndian.Uint32(b[i*runSize+8:])
		if turns == 0 || seat+uint64(turns) > uint64(h.turns) {
			return corrupt(headerSize+int64(i)*runSize, "run of %d turns", turns)
		}
		c.Runs = append(c.Runs, Run{binary.LittleEndian.Uint64(b[i*runSize:]), uint32(seat), uint32(seat) + turns})
		seat += uint64(turns)
	}
	if seat != uint64(h.turns) {
		return corrupt(headerSize, "runs have %d of %d turns", seat, h.turns)
	}
	i := int(h.runs) * runSize
	for range h.speakers {
		length, k := binary.Uvarint(b[i:])
		if k <= 0 || length > uint64(len(b)-i-k) {
			return corrupt(headerSize+int64(i), "speaker")
		}
		i += k + int(length)
		c.Speakers = append(c.Speakers, newSpeaker(string(b[i-int(length):i])))
	}
	if i != len(b) {
		return corrupt(headerSize+int64(i), "bytes behind the speakers")
	}
	return nil
}

// checkOrdinals holds the turns of a thread to their order.
func checkOrdinals(h *header, c *Columns) error {
	for _, run := range c.Runs {
		for seat := run.From + 1; seat < run.To; seat++ {
			if c.Ordinals[seat] <= c.Ordinals[seat-1] {
				return corrupt(h.columnsAt(), "ordinal %d behind %d", c.Ordinals[seat], c.Ordinals[seat-1])
			}
		}
	}
	return nil
}

// seats is 0, 1, 2 ... for all parts whose turns sit in their order.
var seats struct {
	sync.Mutex
	list []uint32
}

// seatsUpTo are the seats below n. They are shared, and only read.
func seatsUpTo(n int) []uint32 {
	seats.Lock()
	defer seats.Unlock()
	if len(seats.list) < n {
		longer := make([]uint32, max(n, 1<<12))
		for i := range longer {
			longer[i] = uint32(i)
		}
		seats.list = longer
	}
	return seats.list[:n:n]
}
