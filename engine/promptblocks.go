package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// block is a piece of a message in the form that both vendors' are made from.
type block struct {
	kind   string // blockText, blockCall, blockResult, or blockRaw
	text   string
	id     string          // of a call, or of the call that a result answers
	name   string          // of the tool
	input  json.RawMessage // of a call: an object
	result json.RawMessage // of a result: content blocks as they came; nil: text
	failed bool
	raw    json.RawMessage // a block as it came
	rawOf  string          // its type
}

const (
	blockText   = "text"
	blockCall   = "call"
	blockResult = "result"
	blockRaw    = "raw"
)

// rawBlock has the members of content blocks and of the items that stand for
// messages, of all formats that are kept raw.
type rawBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	Thinking  *string         `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Arguments json.RawMessage `json:"arguments"`
	Action    json.RawMessage `json:"action"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Output    json.RawMessage `json:"output"`
	IsError   bool            `json:"is_error"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// said is a message of a prompt, taken apart.
type said struct {
	*PromptMessage
	blocks []block
}

// messageBlocks finds the blocks of a message. What is no JSON of a known form is text.
func messageBlocks(m *PromptMessage) said {
	s := said{PromptMessage: m}
	known := false
	if m.Part == WholeTurn {
		s.blocks, known = blocksOf(m.Content, m.Role)
	}
	switch {
	case known:
	case m.Role == "tool_result" && m.Part == WholeTurn:
		s.blocks = []block{{kind: blockResult, text: toValid(m.Content)}}
	case slices.Contains(m.Tags, "thinking"): // its signature is not here: no vendor takes it back
	default:
		s.blocks = []block{{kind: blockText, text: toValid(m.Content)}}
	}
	if m.Role != "tool_call" { // only calls call, so that no text can pass for one
		for i := range s.blocks {
			if s.blocks[i].kind == blockCall {
				s.blocks[i] = block{kind: blockText, text: toValid(m.Content)}
			}
		}
	}
	return s
}

func toValid(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// blocksOf reads raw JSON: an array of content blocks, or an object that stands
// for a call or its result. known is false of everything else.
func blocksOf(content []byte, role string) (all []block, known bool) {
	content = bytes.TrimSpace(content)
	if len(content) < 2 || content[0] != '[' && content[0] != '{' || !json.Valid(content) {
		return nil, false
	}
	var raws []json.RawMessage
	if content[0] == '{' {
		if role != "tool_call" && role != "tool_result" {
			return nil, false
		}
		raws = []json.RawMessage{content}
	} else if json.Unmarshal(content, &raws) != nil {
		return nil, false
	}
	for _, raw := range raws {
		var b rawBlock
		if json.Unmarshal(raw, &b) != nil || b.Type == "" && len(b.ToolCalls) == 0 {
			return nil, false
		}
		all = append(all, b.blocks(raw)...)
	}
	if role == "tool_result" && !slices.ContainsFunc(all, func(b block) bool { return b.kind == blockResult }) {
		return nil, false
	}
	return all, len(raws) > 0
}

func (b *rawBlock) blocks(raw json.RawMessage) (all []block) {
	id := b.CallID
	if id == "" {
		id = b.ID
	}
	if len(b.ToolCalls) > 0 {
		if text := plainText(b.Content); text != "" {
			all = append(all, block{kind: blockText, text: text})
		}
		for _, c := range b.ToolCalls {
			all = append(all, block{kind: blockCall, id: c.ID, name: c.Function.Name, input: object(c.Function.Arguments)})
		}
		return all
	}
	switch b.Type {
	case "text", "input_text", "output_text":
		if b.Text != nil {
			return []block{{kind: blockText, text: *b.Text, raw: raw, rawOf: b.Type}}
		}
	case "tool_use":
		return []block{{kind: blockCall, id: b.ID, name: b.Name, input: object(b.Input), raw: raw}}
	case "tool_result":
		r := block{kind: blockResult, id: b.ToolUseID, text: plainText(b.Content), failed: b.IsError, raw: raw}
		if len(b.Content) > 0 && b.Content[0] == '[' {
			r.result = b.Content
		}
		return []block{r}
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		name := b.Name
		if name == "" {
			name = strings.TrimSuffix(b.Type, "_call")
		}
		for _, in := range []json.RawMessage{b.Arguments, b.Input, b.Action} {
			if len(in) > 0 {
				return []block{{kind: blockCall, id: id, name: name, input: object(in)}}
			}
		}
		return []block{{kind: blockCall, id: id, name: name, input: json.RawMessage("{}")}}
	case "function_call_output", "custom_tool_call_output":
		return []block{{kind: blockResult, id: id, text: plainText(b.Output)}}
	case "thinking":
		if b.Signature == "" || b.Thinking == nil {
			return nil
		}
		return []block{{kind: blockRaw, raw: raw, rawOf: b.Type}}
	case "redacted_thinking", "image", "document":
		return []block{{kind: blockRaw, raw: raw, rawOf: b.Type}}
	}
	return []block{{kind: blockText, text: toValid(raw)}}
}

// object is JSON that is an object: the text of a string that holds one, or one
// made around anything else.
func object(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") && json.Valid([]byte(t)) {
			return json.RawMessage(t)
		}
	}
	if t := bytes.TrimSpace(raw); len(t) > 0 && t[0] == '{' {
		return t
	}
	if len(raw) == 0 || string(raw) == "null" || text == "" && len(raw) == 2 {
		return json.RawMessage("{}")
	}
	wrapped, _ := json.Marshal(map[string]json.RawMessage{"input": raw})
	return wrapped
}

// plainText is the text of a string, or of an array of text blocks; other
// blocks are named. Other JSON is its own text.
func plainText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []rawBlock
	if json.Unmarshal(raw, &blocks) != nil {
		return toValid(raw)
	}
	var parts []string
	for _, b := range blocks {
		if b.Text != nil {
			parts = append(parts, *b.Text)
		} else {
			parts = append(parts, "["+b.Type+"]")
		}
	}
	return strings.Join(parts, "\n")
}
