package transcript

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the .want files")

// TestGolden reads each fixture and compares all that was made of it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			turns, r := readAll(t, in, Options{})
			got := describe(turns, r)
			wantFile := strings.TrimSuffix(file, ".jsonl") + ".want"
			if *update {
				if err := os.WriteFile(wantFile, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wantFile)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("at byte %d, got:\n%s", differAt([]byte(got), want), got)
			}
		})
	}
}

func describe(turns []Turn, r *Reader) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "format %s, stream %s\n", r.Format(), r.Stream())
	for _, turn := range turns {
		fmt.Fprintf(&b, "\n%s %s in %s", turn.Key, turn.Role, turn.Thread)
		if !turn.Time.IsZero() {
			fmt.Fprintf(&b, " at %s", turn.Time.UTC().Format(time.RFC3339Nano))
		}
		if turn.ReplyKey != "" {
			fmt.Fprintf(&b, " answers %s", turn.ReplyKey)
		}
		b.WriteByte('\n')
		if turn.Decision {
			b.WriteString("\tdecision\n")
		}
		for _, part := range []struct {
			name string
			list []string
		}{{"tags", turn.Tags}, {"entities", turn.Entities}, {"summary", nonEmpty(turn.Summary)}} {
			if len(part.list) > 0 {
				fmt.Fprintf(&b, "\t%s %q\n", part.name, part.list)
			}
		}
		content := fmt.Sprintf("%q", turn.Content)
		if bytes.Equal(turn.Content, turn.Source) {
			content = "= source"
		}
		fmt.Fprintf(&b, "\t%s\n", content)
	}
	for _, l := range r.LeftOut() {
		fmt.Fprintf(&b, "\nleft out: %+v\n", l)
	}
	return b.String()
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
