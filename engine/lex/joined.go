package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxJoined is how many pairs of words a question is asked for: the further ones
// of a long text would cost look-ups and tell little.
const maxJoined = 32

// joined are the pairs of neighbouring words as one word: who asks about a work
// tree or a back-up may mean what others write as worktree and backup. Only what
// a space or a hyphen parts is joined, and no figures behind a figure.
func joined(question string) (words []string) {
	fields := strings.Fields(strings.ReplaceAll(fold(question), "-", " "))
	for i := 1; i < len(fields) && len(words) < maxJoined; i++ {
		left, right := strings.TrimLeftFunc(fields[i-1], notInWord), strings.TrimRightFunc(fields[i], notInWord)
		if !isPlainWord(left) || !isPlainWord(right) || len(left)+len(right) > maxWordBytes {
			continue
		}
		if last, _ := utf8.DecodeLastRuneInString(left); unicode.IsLetter(last) {
			words = append(words, left+right)
		}
	}
	return words
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

func isPlainWord(s string) bool { return s != "" && strings.IndexFunc(s, notInWord) < 0 }
