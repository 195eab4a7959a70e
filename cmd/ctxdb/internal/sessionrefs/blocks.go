package sessionrefs

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"ctxdb/cache/replay"
)

// block is a content block of Claude Code or pi.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`     // Claude
	Arguments json.RawMessage `json:"arguments"` // pi
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

// blocks reads content, which is a string or an array.
func blocks(content json.RawMessage) []block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var all []block
	if json.Unmarshal(content, &all) != nil {
		return nil
	}
	return all
}

// textOf joins the texts of content; images have none.
func textOf(content json.RawMessage) string {
	var texts []string
	for _, b := range blocks(content) {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// claudeTurns reads a message of Claude Code, written while in folder dir.
func claudeTurns(message json.RawMessage, dir string) (turns []replay.Turn) {
	var m struct {
		ID, Role string
		Content  json.RawMessage
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	for _, b := range blocks(m.Content) {
		switch b.Type {
		case "text":
			role := replay.User
			if m.Role == "assistant" {
				role = replay.Assistant
			}
			turns = append(turns, replay.Turn{Role: role, Text: b.Text, Message: m.ID})
		case "tool_use", "server_tool_use":
			turns = append(turns, call(b.Name, b.ID, m.ID, dir, b.Input))
		case "tool_result":
			turns = append(turns, replay.Turn{Role: replay.Result, Text: textOf(b.Content), CallID: b.ToolUseID})
		}
	}
	return turns
}

// piTurns reads a message of pi; each is a step of its own.
func piTurns(id, dir string, message json.RawMessage) (turns []replay.Turn) {
	var m struct {
		Role       string
		ToolCallID string
		Content    json.RawMessage
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	switch m.Role {
	case "user":
		return []replay.Turn{{Role: replay.User, Text: textOf(m.Content)}}
	case "toolResult":
		return []replay.Turn{{Role: replay.Result, Text: textOf(m.Content), CallID: m.ToolCallID}}
	case "assistant":
		// An answer that was broken off is a step all the same.
		turns = []replay.Turn{{Role: replay.Assistant, Message: id}}
		for _, b := range blocks(m.Content) {
			switch b.Type {
			case "text":
				turns = append(turns, replay.Turn{Role: replay.Assistant, Text: b.Text, Message: id})
			case "toolCall":
				turns = append(turns, call(b.Name, b.ID, id, dir, b.Arguments))
			}
		}
	}
	return turns
}

// toolInput has the members of tool inputs that name files. Agents agree on what
// they mean but not on their names.
type toolInput struct {
	FilePath string `json:"file_path"`
	Path     string `json:"path"`
	Offset   line   `json:"offset"`
	Limit    line   `json:"limit"`
	replaced
	Edits   []replaced `json:"edits"`
	Command string     `json:"command"`
}

// line is a number of lines; models write it as a string at times.
type line int

// UnmarshalJSON takes what is no number for 0, which is what a tool makes of it.
func (l *line) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err == nil && n >= 0 && n < 1e9 {
		*l = line(n)
	}
	return nil
}

type replaced struct {
	OldString string `json:"old_string"`
	OldText   string `json:"oldText"`
}

func (r replaced) old() string { return r.OldString + r.OldText }

// call reads a tool call by the tool's name. Paths are as seen from folder dir.
func call(name, id, message, dir string, input json.RawMessage) replay.Turn {
	t := replay.Turn{Role: replay.Call, Text: inputText(input), Message: message, CallID: id}
	var in toolInput
	if json.Unmarshal(input, &in) == nil {
		t.Files = under(dir, in.files(strings.ToLower(name)))
	}
	return t
}

func (in *toolInput) files(tool string) []replay.Access {
	a := replay.Access{Path: in.FilePath + in.Path}
	switch tool {
	case "bash":
		return shown(strings.TrimSpace(in.Command))
	case "read":
		a.From = max(1, int(in.Offset))
		if in.Limit > 0 {
			a.To = a.From + int(in.Limit) - 1
		}
	case "edit", "multiedit":
		a.Kind = replay.EditFile
		for _, r := range append(in.Edits, in.replaced) {
			if r.old() != "" {
				a.Old = append(a.Old, r.old())
			}
		}
	case "write":
		a.Kind, a.From = replay.WriteFile, 1
	default:
		return nil
	}
	if a.Path == "" {
		return nil
	}
	return []replay.Access{a}
}

// inputText writes each value of an object on a line of its own, strings as they
// read and anything else as JSON.
func inputText(input json.RawMessage) string {
	var b strings.Builder
	d := json.NewDecoder(bytes.NewReader(input))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return string(input)
	}
	for d.More() {
		var value json.RawMessage
		if _, err := d.Token(); err != nil || d.Decode(&value) != nil {
			break
		}
		var text string
		if json.Unmarshal(value, &text) == nil {
			b.WriteString(text)
		} else {
			b.Write(value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
