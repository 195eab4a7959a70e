package engine

import (
	"bytes"
	"encoding/json"
	"strings"
)

// System is the system turns of the prompt, as the parameter of that name in the
// Messages API takes them; OpenAI has them among its messages.
func (p *Prompt) System() string {
	system, _ := p.speeches()
	return strings.Join(system, "\n\n")
}

// Anthropic is the messages array of Anthropic's Messages API: user and
// assistant alternate, a user begins, each tool_use is answered by a tool_result at the front of
// the next message. Content blocks are as they came where they came as JSON;
// thinking is kept where it has its signature and something follows it. Calls
// and results without their counterpart, and parts of turns, are text. The
// user's text and the index carry #number and time.
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
			return b.raw, nil
		}
		return marshal(object{"type": "tool_use", "id": b.id, "name": b.name, "input": b.input})
	case blockResult:
		if b.raw != nil {
			return b.raw, nil
		}
		o := object{"type": "tool_result", "tool_use_id": b.id, "content": b.text}
		if b.failed {
			o["is_error"] = true
		}
		return marshal(o)
	case blockText:
		if b.raw != nil && b.rawOf == "text" {
			return b.raw, nil
		}
		return marshal(object{"type": "text", "text": b.text})
	}
	return b.raw, nil
}

// OpenAI is the messages array of OpenAI's chat completions API: system turns
// first, an assistant's tool_calls each answered by a tool message right behind. Images become their
// names, thinking is left out.
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
			c := openAICall{ID: b.id, Type: "function"}
			c.Function.Name, c.Function.Arguments = b.name, string(b.input)
			m.Calls = append(m.Calls, c)
		case blockResult:
			all = append(all, openAIMessage{Role: "tool", Content: ptr(b.text), ToolUseID: b.id})
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
