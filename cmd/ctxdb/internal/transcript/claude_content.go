package transcript

// claudeBlock is one content block of a message.
type claudeBlock struct {
	kind               string
	text, thinking     value
	id, name, input    value // of a call
	toolUseID, content value // of a result
	isError            bool
}

func readClaudeBlock(v value) (b claudeBlock) {
	v.members(func(key string, v value) {
		switch key {
		case "type":
			b.kind = v.str()
		case "text":
			b.text = v
		case "thinking":
			b.thinking = v
		case "id":
			b.id = v
		case "name":
			b.name = v
		case "input":
			b.input = v
		case "tool_use_id":
			b.toolUseID = v
		case "content":
			b.content = v
		case "is_error":
			b.isError = v.isTrue()
		}
	})
	return b
}

// claudeMessage fills in role and content from a message's content. It returns the
// key of the call that the message answers, and leaves the role empty where there is
// nothing that the model saw: no content, or reasoning that was not disclosed.
func claudeMessage(content value, role string, t *Turn, l *linker) (callKey string) {
	if content.isString() {
		t.Role, t.Content = role, textOrRaw(content)
		return ""
	}
	items := content.items()
	if len(items) == 0 {
		return ""
	}
	hidden := true
	t.Role, t.Content = role, content
	for _, item := range items {
		b := readClaudeBlock(item)
		hidden = hidden && b.isHidden()
		if isClaudeCall(b.kind) {
			t.Role = RoleToolCall
			claudeCall(b, t, l)
		}
		if key, isResult := claudeResult(b, t, l); isResult && callKey == "" {
			callKey = key
		}
		if len(items) == 1 {
			t.single(b)
		}
	}
	if hidden {
		t.Role, t.Content = "", nil
	}
	return callKey
}

// isHidden: thinking may be nothing but a signature, or encrypted.
func (b *claudeBlock) isHidden() bool {
	return b.kind == "redacted_thinking" || b.kind == "thinking" && string(b.thinking) == `""`
}

func isClaudeCall(kind string) bool { return kind == "tool_use" || kind == "server_tool_use" }

func claudeCall(b claudeBlock, t *Turn, l *linker) {
	call := toolCall{key: t.Key, name: b.name.str(), origins: origins(b.input)}
	t.toolTag(call.name)
	t.entities(call.origins)
	t.summarise(call.name, call.origins)
	l.called(b.id.str(), call)
}

func claudeResult(b claudeBlock, t *Turn, l *linker) (callKey string, isResult bool) {
	if b.kind != "tool_result" {
		return "", false
	}
	if t.Role != RoleToolCall {
		t.Role = RoleToolResult
	}
	if b.isError {
		t.tag(TagError)
	}
	call, ok := l.call(b.toolUseID.str())
	if !ok {
		return "", true
	}
	t.toolTag(call.name)
	t.entities(call.origins)
	return call.key, true
}

// single decodes the content where it is one block with one text.
func (t *Turn) single(b claudeBlock) {
	var text []byte
	var ok bool
	switch b.kind {
	case "text":
		text, ok = b.text.text()
	case "thinking":
		if !b.isHidden() {
			t.tag(TagThinking)
		}
		text, ok = b.thinking.text()
	case "tool_result":
		text, ok = onlyText(b.content, "text")
	}
	if ok {
		t.Content = text
	}
}
