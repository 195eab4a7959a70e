package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ctxdb/cache"
	"ctxdb/cache/replay"
)

// replayGrid is what to run: every combination.
type replayGrid struct {
	budgets   []budget
	policies  []cache.Policy
	pageSizes []int64 // 0: whole turns
	marks     []float64
}

// budget is a number of tokens, or a share of everything.
type budget struct {
	tokens int64
	share  float64
}

// grid reads the lists of the command line. One that is absent stays empty.
func (f *replayFlags) grid() (g replayGrid, err error) {
	if g.budgets, err = parseAll(f.budgets, parseBudget); err != nil {
		return g, err
	}
	if g.policies, err = parseAll(f.policies, parsePolicy); err != nil {
		return g, err
	}
	if g.pageSizes, err = parseAll(f.pageSizes, parsePageSize); err != nil {
		return g, err
	}
	g.marks, err = parseAll(f.lowMarks, parseMark)
	return g, err
}

func parseAll[T any](texts []string, parse func(string) (T, error)) (all []T, err error) {
	for _, text := range texts {
		v, err := parse(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func parseBudget(text string) (budget, error) {
	if digits, ok := strings.CutSuffix(text, "%"); ok {
		if p, err := strconv.ParseFloat(digits, 64); err == nil && p > 0 && p <= 1000 {
			return budget{share: p / 100}, nil
		}
		return budget{}, fmt.Errorf("--budgets %q; a share is like 25%%", text)
	}
	digits, k := strings.CutSuffix(text, "k")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > replay.MaxSize {
		return budget{}, fmt.Errorf("--budgets %q; a budget is like 16000, 16k or 25%%", text)
	}
	if k {
		n *= 1000
	}
	return budget{tokens: n}, nil
}

func parsePageSize(text string) (int64, error) {
	if text == "whole" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > replay.MaxSize {
		return 0, fmt.Errorf("--page-tokens %q; a page is like 1024, or whole", text)
	}
	return n, nil
}

func parseMark(text string) (float64, error) {
	m, err := strconv.ParseFloat(text, 64)
	if err != nil || !(m > 0 && m <= 1) {
		return 0, fmt.Errorf("--watermarks %q; a watermark is above 0 and at most 1", text)
	}
	return m, nil
}

// complete fills in what was left out. whole: turns are not cut and leave one at a time,
// as in what is published about such traces; else as in a window.
func (g *replayGrid) complete(whole, model bool) {
	if len(g.budgets) == 0 && model {
		g.budgets = []budget{{tokens: 8000}}
	}
	if len(g.budgets) == 0 {
		g.budgets = []budget{{share: 0.10}, {share: 0.25}, {share: 0.50}}
	}
	if len(g.policies) == 0 {
		g.policies = cache.Policies()
	}
	size, mark := int64(replay.DefaultPageSize), replay.DefaultWatermark
	if whole {
		size, mark = 0, 1
	}
	if len(g.pageSizes) == 0 {
		g.pageSizes = []int64{size}
	}
	if len(g.marks) == 0 {
		g.marks = []float64{mark}
	}
}

// absolute makes tokens of shares.
func (g *replayGrid) absolute(total int64) (all []int64) {
	for _, b := range g.budgets {
		if b.share > 0 {
			b.tokens = max(1, int64(math.Round(b.share*float64(total))))
		}
		all = append(all, b.tokens)
	}
	return all
}

// base is what all runs have in common.
func (g *replayGrid) base(prices replay.Prices) replay.Options {
	return replay.Options{Prices: prices}
}
