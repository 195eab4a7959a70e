package transcript

// plain reads lines of {"role","content"}, with or without more: what scripts write
// and what the chat APIs take.
type plain struct{}

type plainRecord struct {
	role, content, calls, callID     value
	id, reply, thread, time, summary value
	tags, entities                   value
	decision                         bool
}

func readPlain(record value) (p plainRecord) {
	record.members(func(key string, v value) {
		switch key {
		case "role":
			p.role = v
		case "content":
			p.content = v
		case "tool_calls":
			p.calls = v
		case "tool_call_id":
			p.callID = v
		case "key", "id", "uuid":
			if len(p.id) == 0 || key == "key" {
				p.id = v
			}
		case "reply_key", "parent", "parent_id":
			p.reply = v
		case "thread", "session", "session_id", "conversation_id":
			p.thread = v
		case "time", "timestamp", "created_at", "ts":
			p.time = v
		case "summary":
			p.summary = v
		case "tags":
			p.tags = v
		case "entities":
			p.entities = v
		case "decision":
			p.decision = v.isTrue()
		}
	})
	return p
}

func (plain) name() string { return "plain" }

func (plain) looksFor() string { return `"role" with "content"` }

func (plain) sniff(record value) bool {
	p := readPlain(record)
	return p.role.isString() && (len(p.content) > 0 || p.calls.isArray())
}

// glued is never sure: content blocks look like records.
func (plain) glued(value) bool { return false }

// stream is the hash of the first record: a thread may change within a file.
func (plain) stream(record value) string { return hexHash(record) }

func (plain) defaultStream(first []byte) string { return hexHash(first) }

func (plain) keepsRecords() bool { return true }

func (plain) turn(record value, t *Turn, l *linker) error {
	p := readPlain(record)
	t.Time = parseTime(p.time)
	if thread := p.thread.str(); thread != "" {
		t.Thread = streamID(thread)
	}
	t.ReplyKey = l.earlier(p.reply.scalar())
	t.Key = l.idKey(p.id.scalar(), record)
	p.said(record, t, l)
	if t.Role == RoleMeta {
		t.Content = record
		return nil
	}
	t.Decision = p.decision
	t.entities(p.entities.strs())
	t.tag(p.tags.strs()...)
	if s := p.summary.str(); s != "" && len(s) <= 4096 {
		t.Summary = s
	}
	return nil
}

// scalar is the text of a string, or a number as it stands.
func (v value) scalar() string {
	if v.isString() {
		return v.str()
	}
	if _, ok := v.uint(); ok {
		return string(v)
	}
	return ""
}

// said fills in role and content; a record without them is meta.
func (p *plainRecord) said(record value, t *Turn, l *linker) {
	role := p.role.str()
	t.Role, t.Content = role, textOrRaw(p.content, "text", "input_text", "output_text")
	switch {
	case role == "" || len(role) > 64 || len(p.content) == 0 && !p.calls.isArray():
		t.Role = RoleMeta
	case role == "developer":
		t.Role = RoleSystem
	case role == "tool" || role == "function":
		t.Role = RoleToolResult
		if call, ok := l.call(p.callID.str()); ok {
			t.ReplyKey = call.key
			t.toolTag(call.name)
			t.entities(call.origins)
		}
	case len(p.calls.items()) > 0:
		t.Role, t.Content = RoleToolCall, record
		p.called(t, l)
	}
}

// called remembers the calls in the form of the chat completions API.
func (p *plainRecord) called(t *Turn, l *linker) {
	for _, item := range p.calls.items() {
		function := item.get("function")
		c := toolCall{key: t.Key, name: function.get("name").str()}
		arguments := function.get("arguments")
		if text, ok := arguments.text(); ok {
			arguments = nil
			if n, err := scanValue(text); err == nil && n == len(text) {
				arguments = text
			}
		}
		c.origins = origins(arguments)
		t.toolTag(c.name)
		t.entities(c.origins)
		t.summarise(c.name, c.origins)
		l.called(item.get("id").str(), c)
	}
}
