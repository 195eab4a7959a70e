package rank_test

import (
	"bytes"
	"fmt"

	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
)

// A sealed part and the log's tail, searched as one.
func Example() {
	var analyzer lex.Analyzer
	add := func(m *rank.Memory, role, content string) {
		doc := analyzer.Turn(nil, lex.Input{Content: []byte(content)})
		m.Add(rank.Turn{Thread: "trip", Role: role, Doc: doc})
	}
	sealed, tail := rank.NewMemory(), rank.NewMemory()
	add(sealed, "Ann", "Did you find the spare key?")
	add(sealed, "Ben", "Yes, under the flower pot.")
	add(tail, "Ann", "The ferry leaves at nine.")

	encoded, err := rank.Build(rank.Source{Part: sealed.View()})
	if err != nil {
		panic(err)
	}
	reader, err := rank.Open(bytes.NewReader(encoded), int64(len(encoded)))
	if err != nil {
		panic(err)
	}
	query := lex.Parse("Where did Ben find the keys?", &analyzer)
	hits, err := rank.Default.Search([]rank.Part{reader, tail.View()}, query, rank.Filter{}, 1)
	if err != nil {
		panic(err)
	}
	fmt.Println("part", hits[0].Part, "turn", hits[0].Ordinal)
	// Output: part 0 turn 1
}
