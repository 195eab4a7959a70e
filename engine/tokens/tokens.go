// Package tokens counts tokens as the vocabularies of OpenAI's models cut them.
//
// [CL100K] and [O200K] are for engine.Options.Tokenizer. The vocabularies come
// with github.com/tiktoken-go/tokenizer (MIT) as Go code: nothing is ever
// downloaded. They make a program about 10 MB larger, which is why the engine does not
// import this package: who wants them does.
//
// Counting takes roughly a second for some megabytes. The vocabularies of other
// vendors are not public; for those these counts are an estimate, better than
// engine.EstimateTokens where there is code.
package tokens

import (
	"github.com/tiktoken-go/tokenizer"
)

// CL100K counts in the vocabulary of GPT-4 and GPT-3.5. The function may be used
// by many goroutines.
func CL100K() func(content []byte) int { return counter(tokenizer.Cl100kBase) }

// O200K counts in the vocabulary of GPT-4o and its successors. The function may
// be used by many goroutines.
func O200K() func(content []byte) int { return counter(tokenizer.O200kBase) }

// chunkBytes is how much is counted at a time: the expression that splits text
// takes it as runes.
const chunkBytes = 64 << 10

func counter(name tokenizer.Encoding) func([]byte) int {
	codec, err := tokenizer.Get(name)
	if err != nil {
		panic("tokens: " + err.Error()) // the name is one of the package's own
	}
	return func(content []byte) (sum int) {
		for len(content) > 0 {
			n := chunk(content)
			got, err := codec.Count(string(content[:n]))
			if err != nil { // the splitter gave up: a token a byte is never too few
				got = n
			}
			sum += got
			content = content[n:]
		}
		return sum
	}
}

// chunk is where a text may be cut without many tokens being cut: behind the
// last newline, or else the last space, of its first 64 KiB.
func chunk(content []byte) int {
	if len(content) <= chunkBytes {
		return len(content)
	}
	for _, at := range []byte{'\n', ' '} {
		for i := chunkBytes; i > chunkBytes/2; i-- {
			if content[i-1] == at {
				if at == ' ' {
					return i - 1 // a space belongs to the word behind it
				}
				return i
			}
		}
	}
	for i := chunkBytes; i > chunkBytes-4; i-- {
		if content[i]&0xC0 != 0x80 {
			return i
		}
	}
	return chunkBytes
}
