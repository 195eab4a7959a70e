package transcript

import (
	"bytes"
	"strings"
)

// codex reads the rollout files of the Codex CLI. The conversation is in the lines of
// type response_item; event_msg lines repeat it for the screen.
type codex struct{}

type codexLine struct {
	kind          string
	time, payload value
}

func readCodexLine(record value) (c codexLine) {
	record.members(func(key string, v value) {
		switch key {
		case "type":
			c.kind = v.str()
		case "timestamp":
			c.time = v
		case "payload":
			c.payload = v
		}
	})
	return c
}

func (codex) name() string { return "codex" }

func (codex) looksFor() string {
	return `"type":"session_meta", "response_item" or the like with a "payload"`
}

func (codex) sniff(record value) bool {
	c := readCodexLine(record)
	switch c.kind {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state":
		return c.payload.isObject()
	}
	return false
}

func (f codex) glued(record value) bool {
	return f.sniff(record) && record.get("timestamp").isString()
}

// stream is the first session's id: a fork has the one of its origin in a second line.
func (codex) stream(record value) string {
	if c := readCodexLine(record); c.kind == "session_meta" {
		return c.payload.get("id").str()
	}
	return ""
}

func (codex) defaultStream(first []byte) string { return "codex-" + hexHash(first) }

func (codex) keepsRecords() bool { return true }

func (codex) turn(record value, t *Turn, l *linker) error {
	c := readCodexLine(record)
	t.Time = parseTime(c.time)
	t.Key = l.idKey("", record)
	if c.kind == "response_item" {
		codexItem(c.payload, t, l)
	}
	if t.Role == "" {
		t.meta(record, c.kind)
	}
	return nil
}

// codexPayload holds what the response items have.
type codexPayload struct {
	kind                             string
	role, content, summary           value
	callID, name                     value
	arguments, input, action, output value
}

func readCodexPayload(v value) (p codexPayload) {
	v.members(func(key string, v value) {
		switch key {
		case "type":
			p.kind = v.str()
		case "role":
			p.role = v
		case "content":
			p.content = v
		case "summary":
			p.summary = v
		case "call_id":
			p.callID = v
		case "name":
			p.name = v
		case "arguments":
			p.arguments = v
		case "input":
			p.input = v
		case "action":
			p.action = v
		case "output":
			p.output = v
		}
	})
	return p
}

// codexItem leaves the role empty for items that are no part of the conversation.
func codexItem(payload value, t *Turn, l *linker) {
	p := readCodexPayload(payload)
	switch p.kind {
	case "message", "":
		p.message(t)
	case "agent_message":
		if len(p.content) > 0 {
			t.Role, t.Content = RoleUser, textOrRaw(p.content, "input_text", "output_text")
			t.tag(TagAgentMessage)
		}
	case "reasoning":
		p.reasoning(t)
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call",
		"web_search_call", "image_generation_call":
		p.call(payload, t, l)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		p.result(payload, t, l)
	}
}

func (p *codexPayload) message(t *Turn) {
	role := p.role.str()
	switch {
	case role == "" || !p.content.isString() && !p.content.isArray():
		return
	case role == "developer":
		role = RoleSystem
	}
	t.Role, t.Content = role, textOrRaw(p.content, "input_text", "output_text", "text")
}

// reasoning shows its summary, or its text; mostly there is only an encrypted form.
func (p *codexPayload) reasoning(t *Turn) {
	shown := p.summary
	if len(shown.items()) == 0 {
		shown = p.content
	}
	if len(shown.items()) == 0 {
		return
	}
	t.Role, t.Content = RoleAssistant, textOrRaw(shown, "summary_text", "reasoning_text", "text")
	t.tag(TagThinking)
}

func (p *codexPayload) call(payload value, t *Turn, l *linker) {
	call := toolCall{key: t.Key, name: p.name.str(), origins: p.origins()}
	if call.name == "" {
		call.name = strings.TrimSuffix(p.kind, "_call")
	}
	t.Role, t.Content = RoleToolCall, payload
	t.toolTag(call.name)
	t.entities(call.origins)
	t.summarise(call.name, call.origins)
	l.called(p.callID.str(), call)
}

func (p *codexPayload) result(payload value, t *Turn, l *linker) {
	t.Role = RoleToolResult
	switch {
	case len(p.output) == 0:
		t.Content = payload
	default:
		t.Content = textOrRaw(p.output, "input_text", "output_text", "text")
	}
	if string(p.output.get("success")) == "false" {
		t.tag(TagError)
	}
	if call, ok := l.call(p.callID.str()); ok {
		t.ReplyKey = call.key
		t.toolTag(call.name)
		t.entities(call.origins)
	}
}

// origins looks into the arguments, which are JSON in a string, an object, or for custom
// tools a text: a patch that names its files, or a script.
func (p *codexPayload) origins() []string {
	for _, v := range []value{p.arguments, p.input, p.action} {
		if v.isObject() {
			return origins(v)
		}
		text, ok := v.text()
		if !ok {
			continue
		}
		if n, err := scanValue(text); err == nil && n == len(text) {
			return origins(text)
		}
		if files := patchedFiles(string(text)); len(files) > 0 {
			return files
		}
		if commands := scriptedCommands(text); len(commands) > 0 {
			return commands
		}
		if line := clip(string(text)); line != "" {
			return []string{line}
		}
	}
	return nil
}

// patchedFiles returns the files that an apply_patch text names, in order.
func patchedFiles(patch string) (files []string) {
	if !strings.HasPrefix(patch, "*** Begin Patch") {
		return nil
	}
	for line := range strings.Lines(patch) {
		for _, verb := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if name, ok := strings.CutPrefix(line, verb); ok {
				files = append(files, clip(name))
			}
		}
	}
	return files
}

// scriptedCommands returns the commands that a script of the exec tool runs: cmd:"...".
func scriptedCommands(script []byte) (commands []string) {
	for len(commands) < 8 {
		_, rest, found := bytes.Cut(script, []byte("cmd:"))
		if !found {
			break
		}
		script = bytes.TrimLeft(rest, " ")
		n, err := scanValue(script)
		if err != nil || script[0] != '"' {
			continue
		}
		if command := clip(value(script[:n]).str()); command != "" {
			commands = append(commands, command)
		}
		script = script[n:]
	}
	return commands
}
