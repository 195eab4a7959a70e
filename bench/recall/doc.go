// Command recall measures how well the index finds the turns that hold the
// answer to a question, on LoCoMo (Maharana et al., Evaluating Very Long-Term
// Conversational Memory of LLM Agents, 2024), with no model.
//
//	go run ./bench/recall -data DIR -split all
//
// DIR holds locomo/locomo5-dev.json; the benchmark is not part of this project
// (CC BY-NC 4.0). Each conversation becomes a thread of one index, its speakers
// roles. For each answerable question that has evidence (categories 1 to 4), the
// turns of its conversation are ranked, and whole turns are taken in that order, leaving
// out what does not fit, up to a share of the conversation's tokens (4 bytes each). Recall is
// the share of the question's evidence turns among them, averaged over the
// questions; R@k is the same among the first k turns; hit@k says that one of them is.
//
// With -embedder URL -model NAME the same is measured by vectors alone, and by
// words and vectors, with the engine's own search on a temporary file, which
// joins the two rankings by reciprocal rank; -key-env names the variable that
// holds a key. The vectors of some 3,000 turns and 700 questions are asked for.
//
// Published figures stand below the tables, each with what it counts: they differ
// in the unit (turn, chunk, session), in any or all of the evidence, in the cut
// (turns, tokens) and in the questions.
//
// The settings of rank.Default were chosen on the first three conversations of
// the file (-split dev3). The optimum is flat: a step up or down of any one of
// them moves recall by less than a point, and no conversation of the five by more
// than two. Tried besides, on all five, and left out (most were level or worse; a
// few moved one budget by a fraction of a point, which is chance among some fifty
// tries on the same questions): words of names at a lower weight, a second score of the
// turn's own words, no lending over a pause, lending more forward than back,
// lending further, a prior for longer turns, synonyms and kinds of things from
// WordNet.
package main
