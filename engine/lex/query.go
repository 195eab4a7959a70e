package lex

import (
	"bytes"
	"strings"
)

// QueryTerm is a term of a question.
type QueryTerm struct {
	Term   Term
	Weight float64 // 1 for a word said once
}

// Query is what a question is about.
type Query struct {
	Terms   []QueryTerm // in the order of the question, each once
	Stumps  []QueryTerm // the beginnings of its longer words
	Joined  []QueryTerm // neighbouring words as one: work tree as worktree
	Names   []Term      // every word, to be held against the names that a file knows
	Phrases []string    // what stood in quotes, as written; to be checked on the content
	Dates   []Date      // named in the question
	Asks    Cue         // what the answer is likely to mention
}

// Parse reads a question. It keeps a memory of stems between calls when it is
// given the same Analyzer; nil makes one for this call.
func Parse(question string, a *Analyzer) Query {
	if a == nil {
		a = new(Analyzer)
	}
	q := Query{Asks: asks(question), Dates: dates(question), Phrases: phrases(question)}
	at := make(map[Term]int)
	a.reset()
	a.observe = func(k kind, t Term) {
		list := &q.Terms
		if k == kindStump {
			list = &q.Stumps
		}
		if i, ok := at[t]; ok {
			(*list)[i].Weight++
			return
		}
		at[t] = len(*list)
		*list = append(*list, QueryTerm{t, 1})
		if k == kindWord {
			q.Names = append(q.Names, t)
		}
	}
	a.functions = func(word []byte) { q.Names = append(q.Names, WordTerm(string(word))) }
	a.text([]byte(question))
	a.observe, a.functions = nil, nil
	for _, word := range joined(question) {
		t := WordTerm(word)
		if _, ok := at[t]; !ok {
			at[t] = len(q.Joined)
			q.Joined = append(q.Joined, QueryTerm{t, 1})
		}
	}
	return q
}

const maxPhrases = 8

// phrases are the parts in double quotes.
func phrases(s string) (found []string) {
	s = strings.NewReplacer("“", `"`, "”", `"`).Replace(s)
	for len(found) < maxPhrases {
		_, rest, ok := strings.Cut(s, `"`)
		if !ok {
			return found
		}
		phrase, after, ok := strings.Cut(rest, `"`)
		if !ok {
			return found
		}
		if phrase = strings.TrimSpace(phrase); phrase != "" {
			found = append(found, phrase)
		}
		s = after
	}
	return found
}

// HasPhrases reports whether every phrase stands in a content, without regard to
// letter case and to how words are spaced. What JSON escapes counts as what it
// stands for, too.
func HasPhrases(content []byte, phrases []string) bool {
	var plain, decoded string
	for _, phrase := range phrases {
		phrase = evened([]byte(phrase))
		if plain == "" {
			plain = evened(content)
		}
		if strings.Contains(plain, phrase) {
			continue
		}
		if bytes.IndexByte(content, '\\') < 0 {
			return false
		}
		if decoded == "" {
			decoded = evened(unescape(nil, content))
		}
		if !strings.Contains(decoded, phrase) {
			return false
		}
	}
	return true
}

// evened is a text in small letters with single spaces.
func evened(s []byte) string { return strings.Join(strings.Fields(fold(string(s))), " ") }
