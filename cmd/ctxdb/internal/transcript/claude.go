package transcript

// claude reads the session files of Claude Code: a record a line, of which several
// may make up one message, linked by parentUuid. Subagents are lines of the same
// file with isSidechain, or files of their own.
type claude struct {
	subagent bool // the whole file belongs to one subagent
}

// claudeRecord holds the members that matter, as raw values.
type claudeRecord struct {
	kind, uuid, parent, session, agent value
	time, message, content             value // content of a system line
	sidechain, injected, compact       bool
	apiError                           bool
	snapshot, leaf                     bool
}

func readClaude(record value) (c claudeRecord) {
	record.members(func(key string, v value) {
		switch key {
		case "type":
			c.kind = v
		case "uuid":
			c.uuid = v
		case "parentUuid", "logicalParentUuid": // a compaction has null and the true one
			if v.isString() {
				c.parent = v
			}
		case "sessionId":
			c.session = v
		case "agentId":
			c.agent = v
		case "timestamp":
			c.time = v
		case "message":
			c.message = v
		case "content":
			c.content = v
		case "isSidechain":
			c.sidechain = v.isTrue()
		case "isMeta":
			c.injected = v.isTrue()
		case "isCompactSummary":
			c.compact = v.isTrue()
		case "isApiErrorMessage":
			c.apiError = v.isTrue()
		case "snapshot":
			c.snapshot = v.isObject()
		case "leafUuid":
			c.leaf = v.isString()
		}
	})
	return c
}

func (*claude) name() string { return "claude" }

func (*claude) looksFor() string {
	return `"type":"user" or "assistant" with a "message", or lines with "sessionId"`
}

// sniff wants a message of the Messages API, or a line that only Claude Code writes:
// other tools took over the envelope, with "parts" in the message.
func (*claude) sniff(record value) bool {
	c := readClaude(record)
	switch c.kind.str() {
	case "user", "assistant":
		return c.message.isObject() && len(c.message.get("parts")) == 0
	case "":
		return c.session.isString() && c.message.get("role").isString() &&
			len(c.message.get("parts")) == 0
	case "summary":
		return c.leaf
	case "file-history-snapshot":
		return c.snapshot
	case "permission-mode", "queue-operation", "last-prompt", "ai-title", "custom-title", "agent-name", "progress":
		return c.session.isString()
	}
	return false
}

func (*claude) glued(record value) bool {
	c := readClaude(record)
	switch c.kind.str() {
	case "":
		return false
	case "summary":
		return c.leaf
	case "file-history-snapshot":
		return c.snapshot
	}
	return c.session.isString()
}

func (f *claude) stream(record value) string {
	c := readClaude(record)
	session := c.session.str()
	if session == "" || !c.sidechain {
		return session
	}
	f.subagent = true
	if agent := c.agent.str(); agent != "" {
		return session + "/agent-" + agent
	}
	return session + "/agent-" + hexHash(record)
}

func (*claude) defaultStream(first []byte) string { return "claude-" + hexHash(first) }

func (*claude) keepsRecords() bool { return true }

func (f *claude) turn(record value, t *Turn, l *linker) error {
	c := readClaude(record)
	t.Time = parseTime(c.time)
	if c.sidechain {
		t.tag(TagSidechain)
		if !f.subagent {
			t.Thread += "/sidechain"
		}
	}
	reply := l.earlier(c.parent.str())
	t.Key = l.idKey(c.uuid.str(), record)
	switch role := c.role(); role {
	case RoleUser, RoleAssistant:
		if callKey := claudeMessage(c.message.get("content"), role, t, l); callKey != "" {
			reply = callKey
		}
	case RoleSystem:
		if text, ok := c.content.text(); !ok && (c.content.isString() || c.content.isArray()) {
			t.Role, t.Content = RoleSystem, c.content
		} else if len(text) > 0 {
			t.Role, t.Content = RoleSystem, text
		}
	}
	t.ReplyKey = reply
	if t.Role == "" {
		t.meta(record, c.kind.str())
		return nil
	}
	c.tags(t)
	return nil
}

func (c *claudeRecord) role() string {
	kind := c.kind.str()
	if kind == "" {
		kind = c.message.get("role").str()
	}
	return kind
}

func (c *claudeRecord) tags(t *Turn) {
	if c.injected && t.Role == RoleUser {
		t.tag(TagInjected)
	}
	if c.compact {
		t.tag(TagCompactSummary)
	}
	if c.apiError {
		t.tag(TagError)
	}
}
