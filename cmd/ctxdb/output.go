package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// report is what a verb found: one struct with a text form.
type report interface {
	text(w io.Writer)
}

// show writes a report to stdout, as text or as the struct itself.
func show(cmd *cobra.Command, asJSON bool, r report) error {
	w := bufio.NewWriter(cmd.OutOrStdout())
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
	} else {
		r.text(w)
	}
	return w.Flush()
}

// watchedWriter remembers that a write failed: what prints help tells nobody.
type watchedWriter struct {
	io.Writer
	err error
}

func (w *watchedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// fileOf is the file behind a writer, if it is one.
func fileOf(w io.Writer) (*os.File, bool) {
	if watched, ok := w.(*watchedWriter); ok {
		w = watched.Writer
	}
	f, ok := w.(*os.File)
	return f, ok
}

func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

// count is a number with its thousands grouped.
func count[T ~int | ~int64 | ~uint64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// many is a number and its noun.
func many[T ~int | ~int64 | ~uint64](n T, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + one + "s"
}

// row prints a name and what there is to say about it.
func row(w io.Writer, name, format string, args ...any) {
	fmt.Fprintf(w, "%-11s %s\n", name, fmt.Sprintf(format, args...))
}

// when is a time as text; "" for none.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// quoteName shows a thread or a role; a nameless one is "-".
func quoteName(name string) string {
	if strings.TrimSpace(name) == "" {
		return "-"
	}
	return escape(name)
}
