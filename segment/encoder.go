package segment

import (
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
	"ctxdb/segment/zdict"
)

// encoder compresses the blocks of one stream and proves that they decode.
type encoder struct {
	frames     frameEncoder
	most       int // bytes of plaintext that frames takes
	decoder    *zstd.Decoder
	codec      format.Codec // of what frames makes
	dictionary []byte       // nil: none
	out, check []byte
}

// frameEncoder appends to dst a zstd frame of src.
type frameEncoder interface {
	EncodeAll(src, dst []byte) []byte
}

// Encoders without a dictionary serve any segment. The tables of the best level
// take 34 MiB and some 10 ms to make, so that they go from one segment to the
// next; when nothing is sealed for a while the collector takes them.
var (
	bestEncoders  = sync.Pool{New: func() any { return plainEncoder(zstd.SpeedBestCompression) }}
	plainEncoders = sync.Pool{New: func() any { return plainEncoder(plainLevel) }}
)

// plainLevel is that of content blocks without a dictionary, where the options say
// nothing else.
const plainLevel = zstd.SpeedBetterCompression

func encoderOptions(level zstd.EncoderLevel) []zstd.EOption {
	return []zstd.EOption{
		zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1),
		zstd.WithSingleSegment(true), zstd.WithWindowSize(format.MaxBlockRaw),
	}
}

func plainEncoder(level zstd.EncoderLevel) *encoder {
	z, err := zstd.NewWriter(nil, encoderOptions(level)...)
	if err != nil {
		panic("zstd refuses constant options: " + err.Error())
	}
	return &encoder{frames: z, most: format.MaxBlockRaw, decoder: plainDecoder(), codec: format.CodecZstd}
}

// dictEncoder makes an encoder with a dictionary of the content given, whose
// tables fit the blocks. Level 0 is zdict's.
func dictEncoder(level zstd.EncoderLevel, content []byte, blocks [][]byte) (*encoder, error) {
	samples := slices.DeleteFunc(evenly(blocks, trainingBlocks), func(b []byte) bool { return len(b) > zdict.MaxBlock })
	z, err := zdict.Train(format.DictionaryID, content, samples)
	if err != nil {
		return nil, err
	}
	e := &encoder{frames: z, most: zdict.MaxBlock, codec: format.CodecZstdDict, dictionary: z.Dictionary()}
	if e.decoder, err = newDecoder(e.dictionary); err != nil {
		return nil, err
	}
	if level != 0 {
		options := slices.Concat(encoderOptions(level), []zstd.EOption{zstd.WithEncoderDict(e.dictionary)})
		if e.frames, err = zstd.NewWriter(nil, options...); err != nil {
			return nil, err
		}
		e.most = format.MaxBlockRaw
	}
	return e, nil
}

// maxCrew bounds the goroutines that compress the blocks of one segment.
const maxCrew = 4

// crew returns encoders like e, it among them, for as many goroutines as can run.
// Those of a library's level are one: they take megabytes each.
func (e *encoder) crew() []*encoder {
	list := []*encoder{e}
	z, ok := e.frames.(*zdict.Encoder)
	for ok && len(list) < min(runtime.GOMAXPROCS(0), maxCrew) {
		twin := *e
		twin.frames, twin.out, twin.check = z.Clone(), nil, nil
		list = append(list, &twin)
	}
	return list
}

// encode returns how plaintext is stored best. The bytes are valid until the
// next call, or plaintext itself.
func (e *encoder) encode(plaintext []byte) (stored []byte, codec format.Codec) {
	frames, codec := e.frames, e.codec
	if len(plaintext) > e.most { // so large that a dictionary spares nothing
		plain := plainEncoders.Get().(*encoder)
		defer plainEncoders.Put(plain)
		frames, codec = plain.frames, plain.codec
	}
	e.out = frames.EncodeAll(plaintext, e.out[:0])
	if len(e.out) >= len(plaintext) {
		return plaintext, format.CodecRaw
	}
	return e.out, codec
}

// verified reports whether stored decodes to plaintext, by the reader's own path.
func (e *encoder) verified(plaintext, stored []byte, codec format.Codec) bool {
	out, ok := decodeStored(e.check, stored, codec, uint32(len(plaintext)), e.decoder)
	if ok && codec != format.CodecRaw {
		e.check = out
	}
	return ok && string(out) == string(plaintext)
}
