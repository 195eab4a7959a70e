package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	data := flag.String("data", "", "folder that holds locomo/locomo5-dev.json (default: $CTXDB_DATA, else ../shared/data)")
	split := flag.String("split", "all", "dev3: the conversations that settings were chosen on; all: every one of the file")
	file := flag.String("file", "locomo/locomo5-dev.json", "in the folder")
	csvPath := flag.String("csv", "", "write the figures to this file as well")
	plotPath := flag.String("plot", "", "write recall over the share of tokens to this file as SVG")
	flag.Parse()
	if err := run(os.Stdout, folder(*data), *file, *split, *csvPath, *plotPath); err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}

func folder(data string) string {
	if data == "" {
		data = os.Getenv("CTXDB_DATA")
	}
	if data == "" {
		data = filepath.Join("..", "shared", "data")
	}
	return data
}

// devConversations at the front of the file are those that settings were chosen on.
const devConversations = 3

func run(w io.Writer, data, file, split, csvPath, plotPath string) error {
	conversations, err := readLoCoMo(filepath.Join(data, file))
	if err != nil {
		return err
	}
	switch split {
	case "all":
	case "dev3":
		conversations = conversations[:min(devConversations, len(conversations))]
	default:
		return fmt.Errorf("split %q is neither dev3 nor all", split)
	}
	results, err := measureAll(conversations)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("LoCoMo, %d conversations (%s), %d questions with evidence, no model", len(conversations), split, results[0].all.questions)
	fmt.Fprintf(w, "%s\n\n", title)
	writeTables(w, results)
	fmt.Fprint(w, published)
	return errors.Join(
		writeFile(csvPath, func(w io.Writer) error { return writeCSV(w, results) }),
		writeFile(plotPath, func(w io.Writer) error { return writePlot(w, title, results) }),
	)
}

func measureAll(conversations []conversation) ([]result, error) {
	var results []result
	for _, s := range settings() {
		r, err := measure(s, conversations)
		if err != nil {
			return nil, err
		}
		if r.all.questions == 0 {
			return nil, errors.New("no question has evidence")
		}
		results = append(results, r)
	}
	return results, nil
}

// writeFile writes a file that was asked for.
func writeFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
