package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// speech is a message as both vendors have it: whose turn it is, and its blocks.
//
// invariant: in a list of them every call of an assistant's speech is answered
// by the results at the front of the next one, a user's, in the same order, and
// there are no other results.
type speech struct {
	assistant bool
	blocks    []block
}

// speeches pairs calls with results, and merges neighbours of one side. Calls
// and results that stand alone become text. System turns at the front come
// apart.
func (p *Prompt) speeches() (system []string, all []speech) {
	list := make([]said, len(p.Messages))
	for i := range p.Messages {
		list[i] = messageBlocks(&p.Messages[i])
	}
	answers := pair(list)
	talk := talk{}
	for i := range list {
		s := &list[i]
		if s.Role == "system" {
			system = append(system, toValid(s.Content))
			continue
		}
		for _, b := range s.blocks {
			talk.add(s, b, answers)
		}
	}
	talk.close()
	if len(p.Index) > 0 {
		talk.say(false, block{kind: blockText, text: strings.TrimRight(p.indexText(), "\n")})
	}
	return system, talk.all
}

// vendorName is what both vendors take for the id of a call and for a tool's name.
var vendorName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// pair gives results without an id the id of the call that they answer, turns
// what has no partner into text, and returns the results by their ids.
func pair(list []said) map[string]block {
	calls := map[string]int{} // where, by id
	open := map[TurnID][]string{}
	answers := map[string]block{}
	for i := range list {
		s := &list[i]
		for j := range s.blocks {
			b := &s.blocks[j]
			switch b.kind {
			case blockCall:
				if _, twice := calls[b.id]; twice || !vendorName.MatchString(b.id) || !vendorName.MatchString(b.name) {
					*b = b.asText()
					continue
				}
				calls[b.id] = i
				open[s.ID] = append(open[s.ID], b.id)
			case blockResult:
				if b.id == "" {
					for _, id := range open[s.ReplyTo] {
						if _, taken := answers[id]; !taken {
							b.id = id
							break
						}
					}
				}
				_, called := calls[b.id]
				if _, twice := answers[b.id]; !called || twice {
					*b = b.asText()
					continue
				}
				answers[b.id] = *b
			}
		}
	}
	return answers
}

func (b *block) asText() block {
	switch b.kind {
	case blockCall:
		return block{kind: blockText, text: fmt.Sprintf("[call of %s] %s", b.name, b.input)}
	case blockResult:
		return block{kind: blockText, text: "[result] " + b.text}
	}
	return *b
}

// talk collects speeches.
type talk struct {
	all  []speech
	open []string // calls of the last speech, not answered yet
	held map[string]block
}

// say adds a block to the speech of a side.
func (t *talk) say(assistant bool, b block) {
	if b.kind == blockText && strings.TrimSpace(b.text) == "" {
		return
	}
	if n := len(t.all); n > 0 && t.all[n-1].assistant == assistant {
		t.all[n-1].blocks = append(t.all[n-1].blocks, b)
		return
	}
	if len(t.all) == 0 && assistant {
		t.all = append(t.all, speech{blocks: []block{{kind: blockText, text: "[What was said before is not here.]"}}})
	}
	t.all = append(t.all, speech{assistant: assistant, blocks: []block{b}})
}

// close answers the calls that are open.
func (t *talk) close() {
	for _, id := range t.open {
		t.say(false, t.held[id])
	}
	t.open = nil
}

func (t *talk) add(s *said, b block, answers map[string]block) {
	switch b.kind {
	case blockCall:
		if _, ok := answers[b.id]; !ok {
			t.closeFor(true)
			t.say(true, b.asText())
			return
		}
		t.held = answers
		t.say(true, b)
		t.open = append(t.open, b.id)
	case blockResult:
		if slices.Contains(t.open, b.id) {
			t.close()
		}
	default:
		assistant := s.Role == "assistant" || s.Role == "tool_call"
		t.closeFor(assistant)
		if b.kind == blockText && !assistant {
			b.text, b.raw = s.heading()+b.text, nil
		}
		t.say(assistant, b)
	}
}

// closeFor closes the calls before the other side speaks.
func (t *talk) closeFor(assistant bool) {
	if !assistant {
		t.close()
	}
}

// heading tells number and time of what is not the assistant's.
func (s *said) heading() string {
	h := "[" + s.name()
	if s.Role != "user" {
		h += " " + s.Role
	}
	if !s.Time.IsZero() {
		h += s.Time.Format(" 2006-01-02 15:04")
	}
	return h + "] "
}
