package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

var categoryNames = [5]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}

// writeTables prints all settings, then the baselines and what the engine does by
// category, then what each step adds: plain is the number of settings without vectors.
func writeTables(w io.Writer, results []result, plain int) {
	fmt.Fprintf(w, "%-34s", "mean evidence recall at")
	for _, share := range budgets {
		fmt.Fprintf(w, " %5.0f %%", 100*share)
	}
	fmt.Fprintf(w, "   hit@1  hit@5\n")
	for _, r := range results {
		writeRow(w, r.name, &r.all)
	}
	for _, r := range append(results[:baselines:baselines], results[plain-1:]...) {
		fmt.Fprintf(w, "\nby category, %s\n", r.name)
		for c := 1; c <= 4; c++ {
			s := &r.category[c]
			writeRow(w, fmt.Sprintf("%s (%d questions)", categoryNames[c], s.questions), s)
		}
	}
	fmt.Fprintln(w, "\nR@k of single turns")
	for _, r := range results[plain-1:] {
		fmt.Fprintf(w, "%-34s", r.name)
		for i, k := range depths {
			fmt.Fprintf(w, "  R@%d %.3f", k, r.all.depth[i]/float64(max(1, r.all.questions)))
		}
		fmt.Fprintln(w)
	}
	writeDifferences(w, results, plain)
}

func writeRow(w io.Writer, name string, s *score) {
	n := float64(max(1, s.questions))
	fmt.Fprintf(w, "%-34s", name)
	for _, sum := range s.recall {
		fmt.Fprintf(w, "  %.3f ", sum/n)
	}
	fmt.Fprintf(w, "  %.3f  %.3f\n", float64(s.hit1)/n, float64(s.hit5)/n)
}

// published is the table of published figures, with what each of them measures.
const published = `
Published, retrieval only, each in its own unit. These count evidence turns, as R@k above does, over ten conversations:
  LoCoMo paper (Maharana et al., 2024), dense retriever over turns       R@5 0.567  R@10 0.662  R@25 0.767  R@50 0.827
  loomcycle, LoCoMo harness (2026), bge-m3 over dated turns, 1,535 q.    R@10 0.668  hit@10 0.741  MRR 0.503  categories 1 to 4
  load late, load little: hosted embeddings, LLM picks, 1,540 q.         evidence recall 0.71 at about 50 % of the tokens
These count otherwise, and can't be set beside the columns above:
  picoclaw, membench (2026), BM25, 1,986 q. with adversarial ones        hit rate 0.700 of evidence in 4,000 tokens
  Memory Recall 1.0.4 (2026), 48 q.                                      any evidence 0.78, all of it 0.67, in 4,096 tokens
  deja-vu (2026), words, 1,982 q. with adversarial ones                  a session with evidence: R@1 0.698  R@5 0.856
  graph-memory (2026), words, sessions and messages, 1,982 q.            all sessions with evidence: R@5 0.829  R@10 0.902
  Engram 0.1.3 (2026), bge-large, BM25, cross-encoder, 1,982 q.          chunks of about six turns: R@5 0.939  R@10 0.950
  flywheel-memory (2026), 695 q.                                         evidence recall 0.843 of what an agent read, end to end
A session has some 20 turns, so ten sessions are a third or more of a conversation; a chunk of six turns hits where a turn beside it does.
The peers are as their authors publish them; none was run here. Figures of answers judged by a model are left out.
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
