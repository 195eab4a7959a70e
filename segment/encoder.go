package segment

import (
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
)

// encoder compresses the blocks of one stream and proves that they decode.
type encoder struct {
	zstd       *zstd.Encoder
	decoder    *zstd.Decoder
	codec      format.Codec // of what it makes
	out, check []byte
}

// Encoders without a dictionary serve any segment. The tables of the best level
// take 34 MiB and some 10 ms to make, so that they go from one segment to the
// next; when nothing is sealed for a while the collector takes them.
var (
	bestEncoders  = sync.Pool{New: func() any { return plainEncoder(zstd.SpeedBestCompression) }}
	plainEncoders = sync.Pool{New: func() any { return plainEncoder(plainLevel) }}
)

// plainLevel is that of content blocks, where the options say nothing else.
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
	return &encoder{zstd: z, decoder: plainDecoder(), codec: format.CodecZstd}
}

func dictEncoder(level zstd.EncoderLevel, dictionary []byte) (*encoder, error) {
	options := slices.Concat(encoderOptions(level), []zstd.EOption{zstd.WithEncoderDictRaw(format.DictionaryID, dictionary)})
	z, err := zstd.NewWriter(nil, options...)
	if err != nil {
		return nil, err
	}
	return &encoder{zstd: z, decoder: newDecoder(dictionary), codec: format.CodecZstdDict}, nil
}

// encode returns how plaintext is stored best. The bytes are valid until the
// next call, or plaintext itself.
func (e *encoder) encode(plaintext []byte) (stored []byte, codec format.Codec) {
	e.out = e.zstd.EncodeAll(plaintext, e.out[:0])
	if len(e.out) >= len(plaintext) {
		return plaintext, format.CodecRaw
	}
	return e.out, e.codec
}

// verified reports whether stored decodes to plaintext, by the reader's own path.
func (e *encoder) verified(plaintext, stored []byte, codec format.Codec) bool {
	out, ok := decodeStored(e.check, stored, codec, uint32(len(plaintext)), e.decoder)
	if ok && codec != format.CodecRaw {
		e.check = out
	}
	return ok && string(out) == string(plaintext)
}
