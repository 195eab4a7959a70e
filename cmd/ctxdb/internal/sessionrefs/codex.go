package sessionrefs

import (
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"

	"ctxdb/cache/replay"
)

// codexTurns reads a response item of a Codex rollout. dir is the folder of the
// latest command: patches may name files relative to it.
func codexTurns(payload json.RawMessage, dir *string) []replay.Turn {
	var p struct {
		Type, Role, Name string
		CallID           string `json:"call_id"`
		Content          json.RawMessage
		Arguments        json.RawMessage
		Input            json.RawMessage
		Output           json.RawMessage
	}
	if json.Unmarshal(payload, &p) != nil {
		return nil
	}
	switch p.Type {
	case "message":
		t := replay.Turn{Role: replay.User, Text: textOf(p.Content)}
		if p.Role == "assistant" {
			t.Role = replay.Assistant
		}
		return []replay.Turn{t}
	case "function_call", "custom_tool_call":
		input := unquote(p.Arguments) + unquote(p.Input)
		t := replay.Turn{Role: replay.Call, CallID: p.CallID, Text: input}
		if strings.HasPrefix(input, "{") {
			t.Text = inputText(json.RawMessage(input))
			t.Files = shellFiles(input, dir)
		} else {
			t.Files = under(*dir, patched(input))
		}
		return []replay.Turn{t}
	case "function_call_output", "custom_tool_call_output":
		text := textOf(p.Output)
		if text == "" {
			text = string(p.Output)
		}
		return []replay.Turn{{Role: replay.Result, CallID: p.CallID, Text: text}}
	}
	return nil
}

func unquote(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// Commands that show one file: sed -n 'a,bp' FILE, cat FILE, nl FILE and head
// FILE, alone or before a sed that cuts lines out.
var (
	sedShows = regexp.MustCompile(`^sed -n ['"]?(\d+)(?:,(\d+))?p['"]? ([^\s|;&<>]+)$`)
	catShows = regexp.MustCompile(`^(?:cat|nl)(?: -[a-z]+)* ([^\s|;&<>]+)(?: \| sed -n ['"]?(\d+)(?:,(\d+))?p['"]?)?$`)
	headShow = regexp.MustCompile(`^head(?: -n)? -?(\d+) ([^\s|;&<>]+)$`)
)

// shellFiles says which file a command shows, or what its patch changes, and
// notes the command's folder.
func shellFiles(arguments string, dir *string) []replay.Access {
	var in struct {
		Cmd     string
		Command json.RawMessage
		Workdir string
	}
	if json.Unmarshal([]byte(arguments), &in) != nil {
		return nil
	}
	if in.Workdir != "" {
		*dir = in.Workdir
	}
	command := in.Cmd
	var words []string
	switch {
	case json.Unmarshal(in.Command, &words) == nil && len(words) > 0:
		command = words[len(words)-1]
	case command == "":
		command = unquote(in.Command)
	}
	if at := strings.Index(command, "*** Begin Patch"); at >= 0 {
		return under(*dir, patched(command[at:]))
	}
	return under(*dir, shown(strings.TrimSpace(command)))
}

func shown(command string) []replay.Access {
	a := replay.Access{From: 1}
	if m := sedShows.FindStringSubmatch(command); m != nil {
		a.Path, a.From, a.To = m[3], atoi(m[1]), atoi(m[2])
		a.To = max(a.To, a.From)
	} else if m := catShows.FindStringSubmatch(command); m != nil {
		a.Path = m[1]
		if m[2] != "" {
			a.From = atoi(m[2])
			a.To = max(a.From, atoi(m[3]))
		}
	} else if m := headShow.FindStringSubmatch(command); m != nil {
		a.Path, a.To = m[2], atoi(m[1])
	} else {
		return nil
	}
	a.Path = strings.Trim(a.Path, `'"`)
	return []replay.Access{a}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // the pattern admits digits only; too many are no line
	return n
}

// patched says what a patch of apply_patch changes: for each hunk the lines that
// it expects to find.
func patched(patch string) (files []replay.Access) {
	if !strings.HasPrefix(patch, "*** Begin Patch") {
		return nil
	}
	var old strings.Builder
	flush := func() {
		if len(files) > 0 && old.Len() > 0 {
			f := &files[len(files)-1]
			f.Old = append(f.Old, old.String())
		}
		old.Reset()
	}
	for line := range strings.Lines(patch) {
		bare := strings.TrimSpace(line)
		switch name, verb := patchedFile(bare); {
		case verb != "":
			flush()
			a := replay.Access{Kind: replay.EditFile, Path: name}
			if verb == "Add" {
				a.Kind, a.From = replay.WriteFile, 1
			}
			files = append(files, a)
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "***"):
			flush()
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "-"):
			old.WriteString(line[1:])
		}
	}
	flush()
	return files
}

func patchedFile(line string) (name, verb string) {
	for _, verb := range []string{"Update", "Add", "Delete"} {
		if name, ok := strings.CutPrefix(line, "*** "+verb+" File: "); ok {
			return name, verb
		}
	}
	return "", ""
}

// under makes the paths absolute.
func under(dir string, files []replay.Access) []replay.Access {
	for i := range files {
		if p := &files[i].Path; dir != "" && !path.IsAbs(*p) {
			*p = path.Join(dir, *p)
		}
	}
	return files
}
