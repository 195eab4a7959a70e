package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	data := flag.String("data", "", "folder that holds locomo/locomo5-dev.json (default: $CTXDB_DATA, else ../shared/data)")
	split := flag.String("split", "all", "dev3: the conversations that settings were chosen on; all: every one of the file")
	file := flag.String("file", "locomo/locomo5-dev.json", "in the folder")
	csvPath := flag.String("csv", "", "write the figures to this file as well")
	plotPath := flag.String("plot", "", "write recall over the share of tokens to this file as SVG")
	var m model
	flag.StringVar(&m.url, "embedder", "", "an endpoint that speaks OpenAI's protocol: measure vectors, and words and vectors, too")
	flag.StringVar(&m.name, "model", "", "the model that makes vectors there")
	flag.IntVar(&m.dimensions, "dimensions", 0, "ask for vectors of so many numbers")
	flag.StringVar(&m.keyEnv, "key-env", benchmarkKey, "the environment variable that holds the key")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, folder(*data), *file, *split, m, *csvPath, *plotPath); err != nil {
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

func run(ctx context.Context, w io.Writer, data, file, split string, m model, csvPath, plotPath string) error {
	e, err := m.embedder()
	if err != nil {
		return err
	}
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
	with, plain := "no model", len(results)
	if e != nil {
		with = "vectors by " + e.Model()
		more, err := measureHybrid(ctx, e, conversations)
		if err != nil {
			return err
		}
		results = append(results, more...)
	}
	title := fmt.Sprintf("LoCoMo, %d conversations (%s), %d questions with evidence, %s", len(conversations), split, results[0].all.questions, with)
	fmt.Fprintf(w, "%s\n\n", title)
	writeTables(w, results, plain)
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
