// Package openai asks models behind any endpoint that speaks OpenAI's HTTP
// protocol, a local one included: an [Embedder] makes vectors by POST
// /v1/embeddings, a [Selector] picks turns by POST /v1/chat/completions.
//
//	e, err := openai.NewEmbedder(openai.Config{URL: "http://localhost:11434/v1", Model: "nomic-embed-text"})
//	db, err := engine.Open("agent.ctxdb", &engine.Options{Embedder: e})
//	report, err := db.Embed(ctx, engine.EmbedOptions{}) // off the append path, resumable
//	hits, err := db.Search(ctx, engine.Query{Text: "where did we set the retry limit"})
//
// Nothing that an endpoint says is believed: answers are bounded before they are
// read, counted, and their indexes checked. Requests that an overloaded or failing
// server turns down are repeated a bounded number of times, after what it asks
// for with Retry-After, at most a minute. Redirects are refused: they would carry the
// texts to another place. A key is sent to the endpoint and to nobody else, and
// stands in no error: neither as it is nor where a server repeats it.
package openai
