package main

import "ctxdb/engine/rank"

func whole(t *turn) string { return t.text }

// first160 is what an index of beginnings sees.
func first160(t *turn) string {
	runes := []rune(t.text)
	return string(runes[:min(160, len(runes))])
}

// baselines are the first of the settings that the engine is held against: the
// newest turns, and an index of beginnings.
const baselines = 2

// settings are the baselines, then one step after the other up to what the
// engine does.
func settings() []setting {
	list := []setting{
		{name: "newest first", text: whole, recency: true},
		{name: "BM25 of the first 160 characters", text: first160, model: rank.Plain},
		{name: "BM25", text: whole, model: rank.Plain},
	}
	m, d := rank.Plain, rank.Default
	step := func(name string, change func()) {
		change()
		list = append(list, setting{name: name, text: whole, model: m})
	}
	step("+ neighbours' words", func() { m.Reach, m.Near, m.Decay, m.Tool = d.Reach, d.Near, d.Decay, d.Tool })
	step("+ answers follow questions", func() { m.Answer = d.Answer })
	step("+ speaker named", func() { m.Named = d.Named })
	step("+ dates named", func() { m.Date = d.Date })
	step("+ cues", func() { m.Time, m.Name, m.Number, m.Reason = d.Time, d.Name, d.Number, d.Reason })
	step("+ turns that ask count less", func() { m.Question = d.Question })
	step("+ idf: thread share, sharper", func() { m.ThreadShare, m.Sharpness = d.ThreadShare, d.Sharpness })
	step("+ beginnings of words", func() { m.Stump = d.Stump })
	step("+ two words as one", func() { m.Joined = d.Joined })
	step("+ names weigh less than what is asked = default", func() { m.NameOnly = d.NameOnly })
	return list
}
