package lex_test

import (
	"fmt"

	"ctxdb/engine/lex"
)

// A turn and a question about it share terms, whatever their forms.
func Example() {
	var analyzer lex.Analyzer
	doc := analyzer.Turn(nil, lex.Input{Content: []byte("We went to the mountains in readOldTurns.")})
	query := lex.Parse("When did they go to a mountain?", &analyzer)
	for _, asked := range query.Terms {
		for _, has := range doc.Terms {
			if asked.Term == has.Term {
				fmt.Println("shared, counted", has.Count)
			}
		}
	}
	fmt.Println("asks for a time:", query.Asks == lex.CueTime)
	// Output:
	// shared, counted 1
	// shared, counted 1
	// asks for a time: true
}
