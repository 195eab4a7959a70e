package transcript

import (
	"io"
	"iter"
)

// How much is read ahead at most, to learn format and stream.
const (
	maxLeadFrames = 256
	maxLeadBytes  = 16 << 20
)

// Reader yields the turns of one transcript. It is not safe for concurrent use.
type Reader struct {
	opts    Options
	frames  *framer
	lead    []frame // read ahead, not yet made into turns
	format  format  // nil until it is known
	link    *linker
	lastKey string
	offset  int64
	leftOut []LeftOut
	counts  map[string]int
	err     error // sticky
}

// NewReader returns a Reader of src. Nothing is read before the first Next.
func NewReader(src io.Reader, opts Options) *Reader {
	if opts.MaxRecordBytes <= 0 {
		opts.MaxRecordBytes = DefaultMaxRecordBytes
	}
	return &Reader{
		opts:   opts,
		frames: newFramer(src, opts.MaxRecordBytes),
		counts: make(map[string]int),
	}
}

// Format names the format, once Next has returned; "" if the input has no record.
func (r *Reader) Format() string {
	if r.format == nil {
		return ""
	}
	return r.format.name()
}

// Stream is what all keys begin with, once Next has returned.
func (r *Reader) Stream() string {
	if r.link == nil {
		return ""
	}
	return r.link.stream
}

// Offset is the number of bytes of the input up to the end of the last turn returned.
func (r *Reader) Offset() int64 { return r.offset }

// LeftOut lists what could not be read so far, in input order.
func (r *Reader) LeftOut() []LeftOut { return r.leftOut }

// Counts returns the number of turns returned so far by role. The map is the Reader's.
func (r *Reader) Counts() map[string]int { return r.counts }

// All yields the turns. An error is the last thing it yields.
func (r *Reader) All() iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for {
			t, err := r.Next()
			if err == io.EOF || !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// Next returns the next turn, or io.EOF. Parts left out are no errors: see LeftOut.
// Other errors are ErrUnknownFormat and those of the underlying reader; they stay.
func (r *Reader) Next() (Turn, error) {
	if r.err == nil && r.link == nil {
		r.err = r.start()
	}
	for r.err == nil {
		var f frame
		if f, r.err = r.nextFrame(); r.err != nil {
			break
		}
		if t, ok := r.turn(f); ok {
			r.counts[t.Role]++
			return t, nil
		}
	}
	return Turn{}, r.err
}

func (r *Reader) nextFrame() (frame, error) {
	if len(r.lead) > 0 {
		f := r.lead[0]
		r.lead[0] = frame{}
		r.lead = r.lead[1:]
		return f, nil
	}
	return r.frames.next()
}

// start reads ahead until format and stream are known.
func (r *Reader) start() error {
	var records []value
	leadBytes, stream, kept := 0, "", false
	for len(r.lead) < maxLeadFrames && leadBytes < maxLeadBytes && stream == "" {
		f, err := r.frames.next()
		if err != nil {
			return err
		}
		r.lead = append(r.lead, f)
		if f.kind == frameTail {
			break
		}
		kept = kept || f.kind == frameRecord || f.kind == frameBad
		leadBytes += len(f.source)
		if f.kind != frameRecord {
			continue
		}
		records = append(records, f.record)
		stream = r.learn(records)
	}
	if r.format == nil {
		if kept {
			return unknownFormat()
		}
		return r.startEmpty()
	}
	if stream == "" {
		stream = r.format.defaultStream(records[0])
	}
	r.link = newLinker(streamID(stream))
	return nil
}

// learn looks at the newest record, and at all of them when it told the format.
func (r *Reader) learn(records []value) (stream string) {
	from := len(records) - 1
	if r.format == nil {
		if r.format = detect(records[from:]); r.format == nil {
			return ""
		}
		r.frames.glued = r.format.glued
		from = 0
	}
	for _, record := range records[from:] {
		if stream = r.format.stream(record); stream != "" {
			break
		}
	}
	return stream
}

// startEmpty reports what was left out of an input without a readable record.
func (r *Reader) startEmpty() error {
	for _, f := range r.lead {
		if f.kind == frameDropped {
			r.report(f.why)
		}
		r.offset = f.end
	}
	return io.EOF
}

func (r *Reader) report(l LeftOut) {
	r.leftOut = append(r.leftOut, l)
	if r.opts.OnLeftOut != nil {
		r.opts.OnLeftOut(l)
	}
}

// turn makes a turn of a frame, if there is one in it.
func (r *Reader) turn(f frame) (t Turn, ok bool) {
	r.offset = f.end
	t = Turn{Source: f.source, Thread: r.link.stream}
	switch f.kind {
	case frameDropped:
		r.report(f.why)
		return t, false
	case frameTail:
		return r.tail(f)
	case frameBlank:
		if !r.format.keepsRecords() {
			return t, false
		}
		t.meta(f.record, "blank")
		t.Key = r.link.idKey("", f.record)
	case frameBad:
		r.unreadable(f, &t)
	default:
		if err := r.format.turn(f.record, &t, r.link); err != nil {
			f.why.Reason = err.Error()
			r.unreadable(f, &t)
		}
	}
	if f.hasGap && r.format.keepsRecords() {
		t.tag(TagGap)
	}
	r.lastKey = t.Key
	return t, true
}

// unreadable reports the frame, and keeps its bytes as a turn.
func (r *Reader) unreadable(f frame, t *Turn) {
	r.report(f.why)
	if !r.format.keepsRecords() {
		t.Source = nil
	}
	t.meta(f.record, "unreadable: "+f.why.Reason)
	t.tag(TagUnreadable)
	t.Key = r.link.idKey("", f.record)
}

// tail ends the reading. Only an unusual tail is a turn.
func (r *Reader) tail(f frame) (t Turn, ok bool) {
	r.err = io.EOF
	if string(f.source) == "\n" || !r.format.keepsRecords() {
		return t, false
	}
	t = Turn{Source: f.source, Thread: r.link.stream, Tags: []string{TagTail}}
	t.meta(f.source, "end of the file")
	t.Key = r.link.tailKey(r.lastKey, f.source)
	return t, true
}
