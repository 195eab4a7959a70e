package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxdb/engine"
	"ctxdb/fuzz/trial"
)

// TestVendorsTakePrompts assembles prompts all along every real session and
// holds them against the schemas and the rules that the vendors document.
func TestVendorsTakePrompts(t *testing.T) {
	prompts, calls := 0, 0
	for _, path := range sessionFiles(t, slices.Concat(genuine, fixtures)...) {
		file := filepath.Join(t.TempDir(), "a.ctxdb")
		if _, _, code := command(strings.NewReader(""), "import", file, path); code == 2 {
			continue
		}
		db, err := engine.Open(file, &engine.Options{ReadOnly: true})
		if err != nil {
			continue // nothing was imported
		}
		for i, o := range []engine.WindowOptions{{BudgetTokens: 3000}, {BudgetTokens: 20_000, PageTokens: -1}} {
			w, err := db.Window("", o)
			if err != nil {
				t.Fatal(err)
			}
			every := trial.Size(25, 200) * (i + 1)
			for turn, err := range db.Turns(0, 0) {
				if err != nil || turn.Role == engine.RoleMeta {
					continue
				}
				w.View(turn.ID) // what is too large stays away
				if int(turn.ID)%every > 0 {
					continue
				}
				p, err := w.Assemble(t.Context(), engine.Query{Text: firstWords(string(turn.Content), 80)})
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				n, err := vendorsTake(&p)
				if err != nil {
					t.Fatalf("%s, at #%d: %v", path, turn.ID, err)
				}
				prompts, calls = prompts+1, calls+n
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d prompts with %d calls", prompts, calls)
	if prompts == 0 || calls == 0 {
		t.Error("that proves little")
	}
}

func vendorsTake(p *engine.Prompt) (calls int, err error) {
	b, err := p.Anthropic()
	if err == nil {
		calls, err = anthropicTakes(b)
	}
	if err != nil {
		return calls, fmt.Errorf("anthropic: %w", err)
	}
	if b, err = p.OpenAI(); err == nil {
		err = openAITakes(b)
	}
	if err != nil {
		return calls, fmt.Errorf("openai: %w", err)
	}
	return calls, nil
}

// strict decodes what has no other members than v.
func strict(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %.300s", err, raw)
	}
	return nil
}

// The schemas of content blocks, after the reference of the Messages API.
type (
	textBlock struct {
		Type      string          `json:"type"`
		Text      *string         `json:"text"`
		Citations json.RawMessage `json:"citations"`
	}
	useBlock struct {
		Type   string          `json:"type"`
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Input  map[string]any  `json:"input"`
		Caller json.RawMessage `json:"caller"`
	}
	resultBlock struct {
		Type    string          `json:"type"`
		UseID   string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
		IsError *bool           `json:"is_error"`
	}
	thinkingBlock struct {
		Type      string  `json:"type"`
		Thinking  *string `json:"thinking"`
		Signature string  `json:"signature"`
	}
	imageBlock struct {
		Type   string `json:"type"`
		Source struct {
			Type      string `json:"type"`
			MediaType string `json:"media_type"`
			Data      string `json:"data"`
			URL       string `json:"url"`
		} `json:"source"`
	}
)

// anthropicTakes: the user begins and ends, sides alternate, every message has
// content, calls are answered at the front of the next message and nowhere else.
func anthropicTakes(b []byte) (calls int, err error) {
	type message struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	var messages []message
	if err := strict(b, &messages); err != nil {
		return 0, err
	}
	used := map[string]bool{}
	var open []string
	for i, m := range messages {
		user := i%2 == 0
		if (m.Role == "user") != user || (m.Role == "assistant") == user || len(m.Content) == 0 {
			return 0, fmt.Errorf("message %d of %d is the %q's, with %d blocks", i, len(messages), m.Role, len(m.Content))
		}
		uses, results, err := anthropicBlocks(m.Content, user)
		if err != nil {
			return 0, fmt.Errorf("message %d: %w", i, err)
		}
		slices.Sort(results)
		if slices.Sort(open); !slices.Equal(results, open) {
			return 0, fmt.Errorf("message %d answers %v, open are %v", i, results, open)
		}
		for _, id := range uses {
			if used[id] {
				return 0, fmt.Errorf("message %d: the id %s was used before", i, id)
			}
			used[id] = true
		}
		open = uses
		calls += len(uses)
	}
	if n := len(messages); n > 0 && n%2 == 0 {
		return 0, fmt.Errorf("the assistant ends")
	}
	return calls, nil
}

// anthropicBlocks checks the blocks of a message, and returns the ids of its calls and results.
func anthropicBlocks(blocks []json.RawMessage, user bool) (uses, results []string, err error) {
	for n, raw := range blocks {
		var kind struct{ Type string }
		if err := json.Unmarshal(raw, &kind); err != nil {
			return nil, nil, err
		}
		var bad bool
		switch kind.Type {
		case "text":
			var x textBlock
			err = strict(raw, &x)
			bad = x.Text == nil || strings.TrimSpace(*x.Text) == ""
		case "tool_use":
			var x useBlock
			err = strict(raw, &x)
			bad = user || !vendorWord(x.ID, 1<<10) || !vendorWord(x.Name, 64) || x.Input == nil
			uses = append(uses, x.ID)
		case "tool_result":
			var x resultBlock
			if err = strict(raw, &x); err == nil {
				err = resultContent(x.Content)
			}
			bad = !user || n != len(results)
			results = append(results, x.UseID)
		case "thinking":
			var x thinkingBlock
			err = strict(raw, &x)
			bad = user || x.Thinking == nil || x.Signature == "" || n == len(blocks)-1
		case "redacted_thinking":
			bad = user || n == len(blocks)-1
		case "image":
			var x imageBlock
			err = strict(raw, &x)
			bad = !user || x.Source.Data == "" && x.Source.URL == ""
		case "document":
			bad = !user
		default:
			bad = true
		}
		if err == nil && bad {
			err = fmt.Errorf("block %d of %d must not be here: %.300s", n, len(blocks), raw)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return uses, results, nil
}

// resultContent is absent, a string, or an array of texts, images and the like.
func resultContent(raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] == '"' {
		return nil
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		var kind struct{ Type string }
		if err := json.Unmarshal(b, &kind); err != nil {
			return err
		}
		var err error
		switch kind.Type {
		case "text":
			err = strict(b, new(textBlock))
		case "image":
			err = strict(b, new(imageBlock))
		case "document", "search_result", "tool_reference":
		default:
			err = fmt.Errorf("a result has a block of type %q", kind.Type)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func vendorWord(s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// openAITakes: roles, members, ids and the answers of calls right behind them,
// after the reference of chat completions.
func openAITakes(b []byte) error {
	var messages []struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
		Calls   []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
		Answers string `json:"tool_call_id"`
	}
	if err := strict(b, &messages); err != nil {
		return err
	}
	open := map[string]bool{}
	for i, m := range messages {
		ok := m.Content != nil
		switch m.Role {
		case "tool":
			ok = ok && open[m.Answers]
			delete(open, m.Answers)
		case "assistant":
			ok = (ok || len(m.Calls) > 0) && len(open) == 0 && len(m.Calls) <= 128
		case "system":
			ok = ok && i == 0
		default:
			ok = ok && m.Role == "user" && len(open) == 0
		}
		if !ok || m.Role != "assistant" && len(m.Calls) > 0 || m.Role != "tool" && m.Answers != "" {
			return fmt.Errorf("message %d, the %s's: %d calls, answers %q, open are %v", i, m.Role, len(m.Calls), m.Answers, open)
		}
		for _, c := range m.Calls {
			if open[c.ID] || c.ID == "" || len(c.ID) > 40 || c.Type != "function" || !vendorWord(c.Function.Name, 64) || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("message %d calls %+v", i, c)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%v are not answered", open)
	}
	return nil
}
