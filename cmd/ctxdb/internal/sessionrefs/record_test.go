package sessionrefs_test

import (
	"reflect"
	"slices"
	"testing"

	"ctxdb/cache/replay"
	"ctxdb/cmd/ctxdb/internal/sessionrefs"
)

func source(lines ...string) (records []sessionrefs.Record) {
	for _, line := range lines {
		records = append(records, sessionrefs.Record{Thread: "s", Source: []byte(line)})
	}
	return records
}

func TestTurns(t *testing.T) {
	file := func(kind replay.AccessKind, path string, from, to int, old ...string) []replay.Access {
		return []replay.Access{{Kind: kind, Path: path, From: from, To: to, Old: old}}
	}
	for _, tc := range []struct {
		name    string
		records []sessionrefs.Record
		want    []replay.Turn
	}{
		{"claude", source(
			`{"type":"user","message":{"role":"user","content":"do it"}}`,
			`{"type":"assistant","cwd":"/w","message":{"id":"m","role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"so"}]}}`,
			`{"type":"assistant","cwd":"/w","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"/w/f","offset":"5","limit":10}}]}}`,
			"\n"+`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"},{"type":"image"},{"type":"text","text":"y"}]}]}}`,
			`{"type":"assistant","cwd":"/w","message":{"id":"n","role":"assistant","content":[{"type":"tool_use","id":"b","name":"Edit","input":{"replace_all":false,"file_path":"/w/f","old_string":"o","new_string":"n"}}]}}`,
			`{"type":"assistant","cwd":"/w","message":{"id":"o","role":"assistant","content":[{"type":"tool_use","id":"c","name":"Write","input":{"file_path":"/w/g","content":"all"}},{"type":"tool_use","id":"d","name":"Bash","input":{"command":"sed -n '3,9p' h"}}]}}`,
			`{"type":"assistant","cwd":"/w","message":{"id":"p","role":"assistant","content":[{"type":"tool_use","id":"e","name":"TodoWrite","input":{"todos":[{"a":1}]}}]}}`,
			`{"type":"summary","summary":"not seen by the model"}`,
		), []replay.Turn{
			{Role: replay.User, Text: "do it"},
			{Role: replay.Assistant, Text: "so", Message: "m"},
			{Role: replay.Call, Text: "/w/f\n5\n10\n", Message: "m", CallID: "a", Files: file(replay.ReadFile, "/w/f", 5, 14)},
			{Role: replay.Result, Text: "x\ny", CallID: "a"},
			{Role: replay.Call, Text: "false\n/w/f\no\nn\n", Message: "n", CallID: "b", Files: file(replay.EditFile, "/w/f", 0, 0, "o")},
			{Role: replay.Call, Text: "/w/g\nall\n", Message: "o", CallID: "c", Files: file(replay.WriteFile, "/w/g", 1, 0)},
			{Role: replay.Call, Text: "sed -n '3,9p' h\n", Message: "o", CallID: "d", Files: file(replay.ReadFile, "/w/h", 3, 9)},
			{Role: replay.Call, Text: "[{\"a\":1}]\n", Message: "p", CallID: "e"},
		}},
		{"codex", source(
			`{"type":"session_meta","payload":{"id":"s"}}`,
			`{"type":"event_msg","payload":{"type":"user_message","message":"again"}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]}}`,
			`{"type":"response_item","payload":{"type":"reasoning","encrypted_content":"x"}}`,
			`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"a","arguments":"{\"cmd\":\"nl -ba f | sed -n '2,4p'\",\"workdir\":\"/w\"}"}}`,
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":"x"}}`,
			`{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","call_id":"b","input":"*** Begin Patch\n*** Update File: f\n@@ func\n one\n-two\n+2\n@@\n three\n*** Add File: g\n+new\n*** End Patch"}}`,
			`{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c","arguments":"{\"command\":[\"bash\",\"-lc\",\"cat /w/h\"]}"}}`,
		), []replay.Turn{
			{Role: replay.User, Text: "do it"},
			{Role: replay.Call, Text: "nl -ba f | sed -n '2,4p'\n/w\n", CallID: "a", Files: file(replay.ReadFile, "/w/f", 2, 4)},
			{Role: replay.Result, Text: "x", CallID: "a"},
			{
				Role: replay.Call, CallID: "b",
				Text:  "*** Begin Patch\n*** Update File: f\n@@ func\n one\n-two\n+2\n@@\n three\n*** Add File: g\n+new\n*** End Patch",
				Files: slices.Concat(file(replay.EditFile, "/w/f", 0, 0, "one\ntwo\n", "three\n"), file(replay.WriteFile, "/w/g", 1, 0)),
			},
			{Role: replay.Call, Text: "[\"bash\",\"-lc\",\"cat /w/h\"]\n", CallID: "c", Files: file(replay.ReadFile, "/w/h", 1, 0)},
		}},
		{"pi", source(
			`{"type":"session","cwd":"/w"}`,
			`{"type":"message","message":{"role":"user","content":[{"type":"text","text":"do it"}]}}`,
			`{"type":"message","message":{"role":"assistant","content":[]}}`,
			`{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"edit","arguments":{"path":"f","oldText":"o","newText":"n"}}]}}`,
			`{"type":"message","message":{"role":"toolResult","toolCallId":"a","content":[{"type":"text","text":"done"}]}}`,
		), []replay.Turn{
			{Role: replay.User, Text: "do it"},
			{Role: replay.Assistant, Message: "3"},
			{Role: replay.Assistant, Message: "4"},
			{Role: replay.Call, Text: "f\no\nn\n", Message: "4", CallID: "a", Files: file(replay.EditFile, "/w/f", 0, 0, "o")},
			{Role: replay.Result, Text: "done", CallID: "a"},
		}},
		{"no source", []sessionrefs.Record{
			{Role: "user", Content: []byte("do it")},
			{Role: "tool_call", Content: []byte("look"), Key: "7"},
			{Role: "tool_result", Content: []byte("x"), ReplyTo: "7"},
			{Role: "meta", Content: []byte("hidden")},
			{Role: "assistant", Content: []byte("y"), Source: []byte("cut {")},
		}, []replay.Turn{
			{Role: replay.User, Text: "do it"},
			{Role: replay.Call, Text: "look", CallID: "7"},
			{Role: replay.Result, Text: "x", CallID: "7"},
			{Role: replay.Assistant, Text: "y"},
		}},
		{"subagent", []sessionrefs.Record{
			{Thread: "s/sidechain", Source: []byte(`{"type":"user","message":{"role":"user","content":"for the subagent"}}`)},
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := slices.Collect(sessionrefs.Turns(slices.Values(tc.records)))
			for i := range max(len(got), len(tc.want)) {
				if i >= len(got) || i >= len(tc.want) || !reflect.DeepEqual(normal(got[i]), normal(tc.want[i])) {
					t.Fatalf("turn %d\n got %+v\nwant %+v", i, got[min(i, len(got)):], tc.want[min(i, len(tc.want)):])
				}
			}
		})
	}
}

// normal has no empty slices where there may as well be none.
func normal(t replay.Turn) replay.Turn {
	if len(t.Files) == 0 {
		t.Files = nil
	}
	return t
}
