package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
)

type object = map[string]any

// countAnotherWay counts turns by role with encoding/json and maps, line by line,
// sharing no code with the reader. It knows Claude Code, Codex and plain records.
func countAnotherWay(t *testing.T, in []byte) map[string]int {
	counts := make(map[string]int)
	var values []any
	lines := bytes.SplitAfter(in, []byte("\n"))
	end := in
	for i, line := range lines {
		d := json.NewDecoder(bytes.NewReader(line))
		for {
			var v any
			err := d.Decode(&v)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				if i < len(lines)-1 {
					counts[TagUnreadable]++
				} else {
					end = in[:len(in)-len(line)+int(d.InputOffset())]
				}
				break
			}
			values = append(values, v)
		}
	}
	if tail := end[len(bytes.TrimRight(end, " \r\n\t")):]; string(tail) != "\n" {
		counts[TagTail]++
	}
	kind := ""
	for _, v := range values {
		if kind == "" {
			kind = kindOf(v)
		}
	}
	for _, v := range values {
		role := map[string]func(object) string{"claude": claudeRole, "codex": codexRole, "plain": plainRole}[kind]
		o, _ := v.(object)
		counts[role(o)]++
	}
	return counts
}

func kindOf(v any) string {
	o, _ := v.(object)
	_, hasPayload := o["payload"].(object)
	_, hasMessage := o["message"].(object)
	_, hasRole := o["role"].(string)
	switch {
	case hasPayload:
		return "codex"
	case hasMessage, o["sessionId"] != nil, o["leafUuid"] != nil, o["snapshot"] != nil:
		return "claude"
	case hasRole && o["content"] != nil:
		return "plain"
	}
	return ""
}

func blockTypes(content any) (types []string) {
	list, _ := content.([]any)
	for _, b := range list {
		block, _ := b.(object)
		kind, _ := block["type"].(string)
		if kind == "thinking" && block["thinking"] == "" {
			kind = "hidden"
		}
		types = append(types, kind)
	}
	return types
}

func claudeRole(o object) string {
	message, _ := o["message"].(object)
	kind, _ := o["type"].(string)
	if o["type"] == nil {
		kind, _ = message["role"].(string)
	}
	if kind == "system" {
		if text, _ := o["content"].(string); text != "" {
			return "system"
		}
		return "meta"
	}
	if kind != "user" && kind != "assistant" {
		return "meta"
	}
	if _, isText := message["content"].(string); isText {
		return kind
	}
	types := blockTypes(message["content"])
	visible := 0
	result := false
	for _, block := range types {
		if block == "tool_use" {
			return "tool_call"
		}
		if block != "hidden" {
			visible++
		}
		result = result || block == "tool_result"
	}
	switch {
	case visible == 0:
		return "meta"
	case result:
		return "tool_result"
	}
	return kind
}

func codexRole(o object) string {
	item, _ := o["payload"].(object)
	if o["type"] != "response_item" {
		return "meta"
	}
	kind, _ := item["type"].(string)
	switch kind {
	case "", "message":
		role, _ := item["role"].(string)
		if role == "developer" {
			return "system"
		}
		return role
	case "agent_message":
		return "user"
	case "reasoning":
		summary, _ := item["summary"].([]any)
		content, _ := item["content"].([]any)
		if len(summary)+len(content) > 0 {
			return "assistant"
		}
		return "meta"
	case "ghost_snapshot", "tool_call", "tool_result":
		return "meta"
	}
	if bytes.HasSuffix([]byte(kind), []byte("_output")) {
		return "tool_result"
	}
	return "tool_call"
}

func plainRole(o object) string {
	if role, ok := o["role"].(string); ok && o["content"] != nil {
		return role
	}
	return "meta"
}
