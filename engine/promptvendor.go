package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxdb/format"
)

// System is the system turns of the prompt, as the parameter of that name in the
// Messages API takes them; OpenAI has them among its messages.
func (p *Prompt) System() string {
	system, _ := p.speeches()
	return strings.Join(system, "\n\n")
}

// Anthropic is the messages array of Anthropic's Messages API: user and
// assistant alternate, a user begins and ends (models from Claude 4.6 on refuse
// an assistant's message at the end; a user's of your own may follow), each
// tool_use is answered by a tool_result at the front of the next message.
// Content blocks are as they came where they came as JSON, without members that
// the API does not know, which it refuses, and without cache_control, of which
// it takes four; thinking is kept where it has its signature and something
// follows it. Calls and results without their counterpart, and parts of turns,
// are text. The user's text and the index carry #number and time.
//
// https://docs.anthropic.com/en/api/messages, and there "Tool use".
func (p *Prompt) Anthropic() ([]byte, error) {
	_, all := p.speeches()
	type message struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	messages := []message{}
	for _, s := range all {
		m := message{Role: "user"}
		if s.assistant {
			m.Role = "assistant"
			s.blocks = withoutLastThought(s.blocks)
		}
		for i := range s.blocks {
			raw, err := s.blocks[i].anthropic()
			if err != nil {
				return nil, err
			}
			m.Content = append(m.Content, raw)
		}
		messages = append(messages, m)
	}
	if n := len(messages); n > 0 && messages[n-1].Role == "assistant" {
		messages = append(messages, message{"user", []json.RawMessage{[]byte(`{"type":"text","text":"[Go on from here.]"}`)}})
	}
	return marshal(messages)
}

// withoutLastThought leaves out the thinking that nothing follows: a message
// must not end with it. A message of nothing else says so.
func withoutLastThought(blocks []block) []block {
	for n := len(blocks); n > 0; n-- {
		if b := &blocks[n-1]; b.rawOf != "thinking" && b.rawOf != "redacted_thinking" {
			return blocks[:n]
		}
	}
	return []block{{kind: blockText, text: "[thinking]"}}
}

func (b *block) anthropic() (json.RawMessage, error) {
	type object map[string]any
	switch b.kind {
	case blockCall:
		if b.raw != nil {
			return knownMembers("tool_use", b.raw)
		}
		return marshal(object{"type": "tool_use", "id": b.id, "name": b.name, "input": b.input})
	case blockResult:
		if b.raw != nil {
			return knownMembers("tool_result", b.raw)
		}
		o := object{"type": "tool_result", "tool_use_id": b.id, "content": b.text}
		if b.failed {
			o["is_error"] = true
		}
		return marshal(o)
	case blockText:
		if b.raw != nil && b.rawOf == "text" {
			return knownMembers("text", b.raw)
		}
		return marshal(object{"type": "text", "text": b.text})
	}
	return knownMembers(b.rawOf, b.raw)
}

// blockMembers are what the Messages API takes in blocks of each type.
var blockMembers = map[string][]string{
	"text":              {"type", "text", "citations"},
	"tool_use":          {"type", "id", "name", "input", "caller"},
	"tool_result":       {"type", "tool_use_id", "content", "is_error"},
	"thinking":          {"type", "thinking", "signature"},
	"redacted_thinking": {"type", "data"},
	"image":             {"type", "source"},
	"document":          {"type", "source", "title", "context", "citations"},
}

// knownMembers is a block as it came, or without the members that the API does
// not take.
func knownMembers(kind string, raw json.RawMessage) (json.RawMessage, error) {
	known := blockMembers[kind]
	var has map[string]json.RawMessage
	if err := json.Unmarshal(raw, &has); err != nil {
		return nil, err
	}
	n := len(has)
	maps.DeleteFunc(has, func(name string, _ json.RawMessage) bool { return !slices.Contains(known, name) })
	if len(has) == n {
		return raw, nil
	}
	return marshal(has)
}

// OpenAI is the messages array of OpenAI's chat completions API: system turns
// first, an assistant's tool_calls each answered by a tool message right behind.
// Images become their names, thinking is left out; ids of calls above the 40
// bytes that the API takes are replaced by their hash.
//
// https://platform.openai.com/docs/api-reference/chat/create
func (p *Prompt) OpenAI() ([]byte, error) {
	system, all := p.speeches()
	messages := []openAIMessage{}
	if len(system) > 0 {
		messages = append(messages, openAIMessage{Role: "system", Content: ptr(strings.Join(system, "\n\n"))})
	}
	for _, s := range all {
		messages = append(messages, s.openAI()...)
	}
	return marshal(messages)
}

type openAIMessage struct {
	Role      string       `json:"role"`
	Content   *string      `json:"content"`
	Calls     []openAICall `json:"tool_calls,omitempty"`
	ToolUseID string       `json:"tool_call_id,omitempty"`
}

type openAICall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// maxOpenAIID is how long the id of a call may be there.
const maxOpenAIID = 40

// shortID is an id that OpenAI takes.
func shortID(id string) string {
	if len(id) <= maxOpenAIID {
		return id
	}
	return fmt.Sprintf("call_%016x", format.Hash([]byte(id)))
}

func ptr(s string) *string { return &s }

// openAI gives the results of a speech, a message each, and then its text.
func (s *speech) openAI() (all []openAIMessage) {
	m := openAIMessage{Role: "user"}
	if s.assistant {
		m.Role = "assistant"
	}
	var texts []string
	for _, b := range s.blocks {
		switch b.kind {
		case blockText:
			texts = append(texts, b.text)
		case blockCall:
			c := openAICall{ID: shortID(b.id), Type: "function"}
			c.Function.Name, c.Function.Arguments = b.name, string(b.input)
			m.Calls = append(m.Calls, c)
		case blockResult:
			all = append(all, openAIMessage{Role: "tool", Content: ptr(b.text), ToolUseID: shortID(b.id)})
		case blockRaw:
			if !strings.HasSuffix(b.rawOf, "thinking") {
				texts = append(texts, "["+b.rawOf+"]")
			}
		}
	}
	if len(texts) > 0 {
		m.Content = ptr(strings.Join(texts, "\n\n"))
	}
	if len(texts) > 0 || len(m.Calls) > 0 {
		all = append(all, m)
	}
	return all
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
