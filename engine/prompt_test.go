package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type anthropicBlock struct {
	Type      string
	Text      *string
	ID, Name  string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   json.RawMessage
	Thinking  *string
	Signature string
	Source    json.RawMessage
}

// checkVendors holds the arrays against what the vendors document.
func checkVendors(t *testing.T, p *Prompt) {
	t.Helper()
	b, err := p.Anthropic()
	if err == nil {
		checkAnthropic(t, b)
		b, err = p.OpenAI()
	}
	if err != nil {
		t.Fatal(err)
	}
	checkOpenAI(t, b)
}

// checkAnthropic: user first, roles alternate, no empty content or text; ids of
// calls are unique; each message with calls is followed by a user's that begins with
// exactly their results; results stand nowhere else; thinking is signed and not
// last.
func checkAnthropic(t *testing.T, b []byte) {
	t.Helper()
	var messages []struct {
		Role    string
		Content []anthropicBlock
	}
	if err := json.Unmarshal(b, &messages); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	var open []string
	for i, m := range messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			t.Fatalf("message %d is the %s's, with %d blocks", i, m.Role, len(m.Content))
		}
		for n := range open {
			if n >= len(m.Content) || m.Content[n].Type != "tool_result" {
				t.Fatalf("message %d does not answer %v:\n%s", i, open, b)
			}
		}
		answered := map[string]bool{}
		for n, x := range m.Content {
			switch x.Type {
			case "tool_result":
				if n >= len(open) || answered[x.ToolUseID] || !contains(open, x.ToolUseID) {
					t.Fatalf("message %d has a result of %q at %d, open are %v", i, x.ToolUseID, n, open)
				}
				answered[x.ToolUseID] = true
			case "text":
				if x.Text == nil || len(trimmed(*x.Text)) == 0 {
					t.Fatalf("message %d has an empty text", i)
				}
			case "thinking":
				if m.Role != "assistant" || x.Signature == "" || x.Thinking == nil || n == len(m.Content)-1 {
					t.Fatalf("message %d has thinking at %d of %d", i, n, len(m.Content))
				}
			case "redacted_thinking":
				if m.Role != "assistant" || n == len(m.Content)-1 {
					t.Fatalf("message %d has thinking at %d", i, n)
				}
			case "image", "document":
				if m.Role != "user" || len(x.Source) == 0 {
					t.Fatalf("message %d of the %s has a %s", i, m.Role, x.Type)
				}
			case "tool_use":
				var input map[string]any
				if m.Role != "assistant" || ids[x.ID] || !vendorName.MatchString(x.ID) || !vendorName.MatchString(x.Name) || json.Unmarshal(x.Input, &input) != nil || input == nil {
					t.Fatalf("message %d has a call %+v", i, x)
				}
				ids[x.ID] = true
			default:
				t.Fatalf("message %d has a block of type %q", i, x.Type)
			}
		}
		open = nil
		for _, x := range m.Content {
			if x.Type == "tool_use" {
				open = append(open, x.ID)
			}
		}
	}
	if open != nil {
		t.Fatalf("calls %v are not answered", open)
	}
	if n := len(messages); n > 0 && messages[n-1].Role != "user" {
		t.Fatal("the assistant ends: models refuse to go on from that")
	}
}

// checkOpenAI: known roles; content is a string, null only beside calls; each
// assistant's calls are followed by exactly their tool messages.
func checkOpenAI(t *testing.T, b []byte) {
	t.Helper()
	var messages []struct {
		Role       string
		Content    *string
		ToolCallID string `json:"tool_call_id"`
		ToolCalls  []struct {
			ID, Type string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(b, &messages); err != nil {
		t.Fatal(err)
	}
	ids, open := map[string]bool{}, map[string]bool{}
	for i, m := range messages {
		if (m.Role == "tool") != (len(open) > 0) {
			t.Fatalf("message %d is the %s's, %d calls are open", i, m.Role, len(open))
		}
		if m.Content == nil && len(m.ToolCalls) == 0 || m.ToolCalls != nil && m.Role != "assistant" {
			t.Fatalf("message %d of the %s: no content, %d calls", i, m.Role, len(m.ToolCalls))
		}
		switch m.Role {
		case "system", "user", "assistant":
		case "tool":
			if !open[m.ToolCallID] {
				t.Fatalf("message %d answers %q", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		default:
			t.Fatalf("message %d is the %q's", i, m.Role)
		}
		for _, c := range m.ToolCalls {
			if ids[c.ID] || c.ID == "" || len(c.ID) > 40 || c.Type != "function" || !vendorName.MatchString(c.Function.Name) || !json.Valid([]byte(c.Function.Arguments)) {
				t.Fatalf("message %d calls %+v", i, c)
			}
			ids[c.ID], open[c.ID] = true, true
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls %v are not answered", open)
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func trimmed(s string) string {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\n' || s[0] == '\t' || s[0] == '\r') {
		s = s[1:]
	}
	return s
}

// TestVendorLimits: members that the Messages API does not know go, those that
// it knows stay as they came, and ids that are too long for OpenAI become short
// ones on both sides.
func TestVendorLimits(t *testing.T) {
	long := "call_" + strings.Repeat("x", 50)
	p := Prompt{Messages: []PromptMessage{
		{ID: 1, Part: WholeTurn, Role: "user", Content: []byte("look")},
		{ID: 2, Part: WholeTurn, Role: "tool_call", Content: fmt.Appendf(nil, `[{"type":"tool_use","id":%q,"name":"Read","input":{"b":1.50,"a":[]},"index":3,"cache_control":{"type":"ephemeral"}}]`, long)},
		{ID: 3, Part: WholeTurn, Role: "tool_result", ReplyTo: 2, Content: fmt.Appendf(nil, `[{"type":"tool_result","tool_use_id":%q,"content":"x","durationMs":4}]`, long)},
		{ID: 4, Part: WholeTurn, Role: "assistant", Content: []byte("done \n")},
	}}
	checkVendors(t, &p)
	a, err := p.Anthropic()
	if err != nil || strings.Contains(string(a), "durationMs") || strings.Contains(string(a), "index") || strings.Contains(string(a), "cache_control") || !strings.Contains(string(a), `{"b":1.50,"a":[]}`) {
		t.Errorf("%s, %v", a, err)
	}
	o, err := p.OpenAI()
	if id := shortID(long); err != nil || strings.Contains(string(o), long) || strings.Count(string(o), id) != 2 {
		t.Errorf("%s, %v", o, err)
	}
}
