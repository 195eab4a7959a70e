package segment

import (
	"cmp"
	"encoding/binary"
	"slices"

	"ctxdb/format"
)

// A dictionary gives each small block what it has in common with the others: it
// is made of strings that occur in many blocks of this very segment. Which ones
// is chosen like FastCOVER does (Liao, Petri, Moffat, Wirth: Effective
// Construction of Relative Lempel-Ziv Dictionaries, 2016; and zstd's fastcover):
// the text is cut into epochs, and of each the stretch is taken whose shingles
// occur in the most blocks. Strings that repeat within a block count once: the
// block finds those without help.

const (
	shingle      = 8   // bytes that must repeat to be worth something
	stretch      = 256 // bytes that are taken at a time
	shingleTable = 1 << 18
	sampleBytes  = 2 << 20 // of the text that is looked at: more brings little
	minDictText  = 8 << 10 // less text has no use for a dictionary

	maxDictionary   = 112 << 10
	dictionaryShare = 3 // the dictionary's text is at most this part of all

	trainingBlocks = 128 // that its tables are made of, at least
	trialBlocks    = 32  // that are compressed to see whether a dictionary pays
)

// chooseDictionary makes an encoder for the turns' content blocks with a
// dictionary of their strings; nil where that does not pay. The larger the
// dictionary the smaller the segment, on every session measured, up to a third of
// the text and to what a decoder can hold many of: only whether one pays at all
// is tried out.
func chooseDictionary(turns []Turn, o BuildOptions) (*encoder, error) {
	if o.DictionaryBytes < 0 {
		return nil, nil
	}
	text, total, err := sampleText(turns, o.BlockBytes)
	if err != nil || total < minDictText {
		return nil, err
	}
	size := int(min(maxDictionary, total/dictionaryShare))
	if o.DictionaryBytes > 0 {
		size = min(o.DictionaryBytes, format.MaxBlockRaw/2)
	}
	var e *encoder
	pays := false
	if !spared(func() {
		if e, err = dictEncoder(o.Level, chooseContent(text, size), text); err == nil {
			pays = o.DictionaryBytes > 0 || e.pays(text, total)
		}
	}) || !pays { // or nothing repeats, or no table can be made of it
		return nil, nil
	}
	return e, nil
}

// sampleText packs the turns as the content stream will be, and keeps blocks at
// even distances. total is the plaintext of all.
func sampleText(turns []Turn, target int) (blocks [][]byte, total int64, err error) {
	for i := range turns {
		total += int64(len(turns[i].Meta) + len(turns[i].Content))
	}
	every := (total + sampleBytes - 1) / sampleBytes
	n := int64(0)
	p := packer{target: target}
	err = p.content(turns, func(_ blockKey, plaintext []byte) error {
		if n%every == 0 {
			blocks = append(blocks, slices.Clone(plaintext))
		}
		n++
		return nil
	})
	return blocks, total, err
}

// trainer counts in how many blocks a shingle occurs, by its hash.
type trainer struct {
	seen  []sighting
	worth []int32 // of the shingles of an epoch, scratch
}

// sighting of shingles with a hash.
type sighting struct {
	blocks uint16
	last   uint16 // 1 + the block that counted it last, modulo 1<<16 - 1
}

const mostSeen = 1<<16 - 1

func shingleHash(b []byte) uint32 {
	return uint32(binary.LittleEndian.Uint64(b) * 0x9E3779B97F4A7C15 >> (64 - 18))
}

func (t *trainer) count(block []byte, number int) {
	mark := uint16(number%mostSeen) + 1
	for i := 0; i+shingle <= len(block); i++ {
		if s := &t.seen[shingleHash(block[i:])]; s.last != mark {
			s.last = mark
			s.blocks += min(1, mostSeen-s.blocks)
		}
	}
}

// weigh fills worth in for an epoch: each block behind the first saves a shingle.
func (t *trainer) weigh(epoch []byte) {
	t.worth = t.worth[:0]
	for i := 0; i+shingle <= len(epoch); i++ {
		t.worth = append(t.worth, int32(max(t.seen[shingleHash(epoch[i:])].blocks, 1)-1))
	}
}

// chosen is a stretch of text and what its shingles are worth.
type chosen struct {
	text  []byte
	score int64
}

// best returns the best stretch of an epoch; the worth of its shingles is spent.
func (t *trainer) best(epoch []byte) chosen {
	t.weigh(epoch)
	var sum, top int64
	at := -1
	for i, w := range t.worth {
		sum += int64(w)
		if i >= stretch {
			sum -= int64(t.worth[i-stretch])
		}
		if sum > top {
			top, at = sum, max(i-stretch+1, 0)
		}
	}
	if at < 0 {
		return chosen{}
	}
	text := epoch[at:min(at+stretch+shingle-1, len(epoch))]
	for i := 0; i+shingle <= len(text); i++ {
		t.seen[shingleHash(text[i:])].blocks = 0
	}
	return chosen{text, top}
}

// chooseContent returns about size bytes for a dictionary, the most useful last,
// where they are cheapest to refer to; nil where nothing repeats.
func chooseContent(blocks [][]byte, size int) []byte {
	t := &trainer{seen: make([]sighting, shingleTable)}
	for i, b := range blocks {
		t.count(b, i)
	}
	text := slices.Concat(blocks...)
	epochs := max(size/stretch, 1)
	length := max(len(text)/epochs, stretch)
	var list []chosen
	for round := 0; round < 4 && len(list) < epochs; round++ {
		before := len(list)
		for epoch := range slices.Chunk(text, length) {
			if c := t.best(epoch); c.score > 0 && len(list) < epochs {
				list = append(list, c)
			}
		}
		if len(list) == before {
			break
		}
	}
	slices.SortStableFunc(list, func(a, b chosen) int { return cmp.Compare(a.score, b.score) })
	var dictionary []byte
	for _, c := range list {
		dictionary = append(dictionary, c.text...)
	}
	return last(dictionary, size)
}

// last returns at most n bytes from the end.
func last(b []byte, n int) []byte { return b[max(len(b)-n, 0):] }

// pays reports whether a segment is smaller with the encoder's dictionary than
// without, the dictionary included, judged by blocks at even distances.
func (e *encoder) pays(blocks [][]byte, total int64) bool {
	without := plainEncoders.Get().(*encoder)
	defer plainEncoders.Put(without)
	own, _ := without.encode(e.dictionary)
	cost := format.BlockSize(len(own))
	var raw, saved int64
	for _, block := range evenly(blocks, trialBlocks) {
		a, _ := without.encode(block)
		b, _ := e.encode(block)
		raw += int64(len(block))
		saved += format.BlockSize(len(a)) - format.BlockSize(len(b))
	}
	return float64(saved)*float64(total) > float64(cost)*float64(max(raw, 1))
}

// evenly returns at least n blocks at even distances, or all.
func evenly(blocks [][]byte, n int) (list [][]byte) {
	for i := 0; i < len(blocks); i += max(len(blocks)/n, 1) {
		list = append(list, blocks[i])
	}
	return list
}
