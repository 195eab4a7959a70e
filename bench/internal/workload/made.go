package workload

import (
	"math/rand/v2"
	"strings"

	"ctxdb/engine"
)

// Made turns have the sizes of coding sessions, but words at random: they
// compress less well than genuine ones and find themselves less well.

const madeTurns = 4096

var words = strings.Fields(`func return error nil context index window segment block the a of to file line test
	pass fail open read write append commit sync parse token budget evict if else for range string byte int`)

func made(name string, least, span int) *Set {
	rng := rand.New(rand.NewPCG(Seed, Seed))
	roles := []string{"user", "assistant", "tool_call", "tool_result"}
	turns := make([]engine.Turn, madeTurns)
	for i := range turns {
		var s strings.Builder
		for size := least + rng.IntN(span); s.Len() < size; {
			s.WriteString(words[rng.IntN(len(words))])
			s.WriteString([]string{" ", " ", " ", "\n", "(x)"}[rng.IntN(5)])
		}
		turns[i] = engine.Turn{Thread: name, Role: roles[i%len(roles)], Content: []byte(s.String())}
	}
	return newSet(name, false, turns)
}
