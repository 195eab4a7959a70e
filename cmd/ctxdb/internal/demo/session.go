package demo

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"ctxdb/engine"
)

const (
	turnCount     = 60
	sessionTokens = 60_700 // as near to the published 60,728 as whole lines come
	sizeSigma     = 0.8    // of the logarithm of a turn's tokens
	sizeCap       = 7_000  // a turn has to fit the published window of 8,000
)

var sessionStart = time.Date(2026, time.March, 3, 8, 30, 0, 0, time.UTC)

// taskCalls are the tool calls of each task. A task is a request, a plan, calls
// with their results, and an answer: 60 turns in all.
var taskCalls = []int{3, 4, 3, 4, 3, 4}

// part is one turn before it is written.
type part struct {
	role, tool string
	task       int
	tokens     int
}

// newSession writes the session of a seed: a coding agent works on an invented
// program. Sizes are lognormal, and add up to about sessionTokens.
func newSession(seed uint64) []engine.Turn {
	s := &scribe{rng: rand.New(rand.NewPCG(seed, 0x5e5510))}
	parts := s.script()
	s.sizes(parts)
	turns := make([]engine.Turn, 0, len(parts))
	at := sessionStart
	owed := 0 // what the turns so far came out too short
	for i, p := range parts {
		if i == 0 || p.task != parts[i-1].task {
			s.open()
		}
		want := max(p.tokens+owed, p.tokens/2)
		t := engine.Turn{Key: s.uuid(), Thread: "ferrygate", Role: p.role, Time: at, Content: []byte(s.write(p, want))}
		t.Entities = []string{s.topic["path"], s.topic["type"]}
		t.Tokens = engine.EstimateTokens(t.Content)
		if i > 0 {
			t.ReplyKey = turns[i-1].Key // a result answers the call before it
		}
		owed += p.tokens - t.Tokens
		at = at.Add(time.Duration(1000+s.rng.IntN(90_000)) * time.Millisecond)
		turns = append(turns, t)
	}
	return turns
}

// script says who speaks when.
func (s *scribe) script() []part {
	tools := []string{"read", "read", "test", "diff", "log", "list"}
	var parts []part
	for task, calls := range taskCalls {
		parts = append(parts, part{role: "user", task: task}, part{role: "assistant", task: task})
		for range calls {
			tool := s.pick(tools)
			parts = append(parts, part{role: "tool_call", tool: tool, task: task}, part{role: "tool_result", tool: tool, task: task})
		}
		parts = append(parts, part{role: "assistant", task: task})
	}
	return parts
}

// sizes draws the turns' tokens. Results tend to be the long ones and calls the
// short ones, which changes who gets which size but not the sizes.
func (s *scribe) sizes(parts []part) {
	drawn := make([]float64, len(parts))
	sum := 0.0
	mean := float64(sessionTokens) / float64(len(parts))
	for i := range drawn {
		for drawn[i] == 0 || drawn[i] > sizeCap {
			drawn[i] = mean * math.Exp(s.rng.NormFloat64()*sizeSigma-sizeSigma*sizeSigma/2)
		}
		sum += drawn[i]
	}
	slices.Sort(drawn)
	weight := map[string]float64{"user": 0.6, "assistant": 1, "tool_call": 0.35, "tool_result": 2.5}
	rank := make([]float64, len(parts))
	order := make([]int, len(parts))
	for i, p := range parts {
		order[i] = i
		rank[i] = weight[p.role] * math.Exp(s.rng.NormFloat64()/2)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	for i, p := range order {
		scaled := drawn[i] * sessionTokens / sum
		parts[p].tokens = min(sizeCap, int(math.Round(scaled)))
	}
}

func (s *scribe) write(p part, tokens int) string {
	var text string
	switch p.role {
	case "user":
		text = s.ask(tokens)
	case "assistant":
		text = s.answer(tokens)
	case "tool_call":
		text = s.call(p.tool, tokens)
	default:
		text = s.result(p.tool, tokens)
	}
	return strings.TrimRight(text, " \n")
}

// uuid looks like the message ids of coding agents.
func (s *scribe) uuid() string {
	a, b := s.rng.Uint64(), s.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-9%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&(1<<48-1))
}
