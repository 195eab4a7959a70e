package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

var categoryNames = [5]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}

// writeTables prints the steps, then the last one by category.
func writeTables(w io.Writer, results []result) {
	fmt.Fprintf(w, "%-34s", "mean evidence recall at")
	for _, share := range budgets {
		fmt.Fprintf(w, " %5.0f %%", 100*share)
	}
	fmt.Fprintf(w, "   hit@1  hit@5\n")
	for _, r := range results {
		writeRow(w, r.name, &r.all)
	}
	last := results[len(results)-1]
	fmt.Fprintf(w, "\nby category, %s\n", last.name)
	for c := 1; c <= 4; c++ {
		s := &last.category[c]
		writeRow(w, fmt.Sprintf("%s (%d questions)", categoryNames[c], s.questions), s)
	}
	n := float64(last.all.questions)
	fmt.Fprintf(w, "\nR@k of single turns")
	for i, k := range depths {
		fmt.Fprintf(w, "  R@%d %.3f", k, last.all.depth[i]/n)
	}
	fmt.Fprintln(w)
}

func writeRow(w io.Writer, name string, s *score) {
	n := float64(max(1, s.questions))
	fmt.Fprintf(w, "%-34s", name)
	for _, sum := range s.recall {
		fmt.Fprintf(w, "  %.3f ", sum/n)
	}
	fmt.Fprintf(w, "  %.3f  %.3f\n", float64(s.hit1)/n, float64(s.hit5)/n)
}

// published figures stand beside ours with what they measure.
const published = `
Published, each in its own unit:
  LoCoMo paper, dense retriever over turns              R@5 0.567  R@10 0.662  R@25 0.767  R@50 0.827
  load late, load little: hosted embeddings, LLM picks  evidence recall 0.71 at about 50 % of the tokens, 1,540 questions
Both are over all ten conversations.
`

// writeCSV writes a line for each setting, category ("all" first) and budget.
func writeCSV(w io.Writer, results []result) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"setting", "category", "token_share", "recall", "questions"}); err != nil {
		return err
	}
	for _, r := range results {
		for c := range r.category {
			s, name := &r.category[c], categoryNames[c]
			if c == 0 {
				s, name = &r.all, "all"
			}
			for i, share := range budgets {
				recall := s.recall[i] / float64(max(1, s.questions))
				err := out.Write([]string{
					r.name, name, strconv.FormatFloat(share, 'f', 2, 64), strconv.FormatFloat(recall, 'f', 4, 64), strconv.Itoa(s.questions),
				})
				if err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}
