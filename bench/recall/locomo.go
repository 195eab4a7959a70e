package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// turn is one message of a conversation.
type turn struct {
	id      string // "D3:14"
	session int
	speaker string
	time    time.Time
	text    string
	tokens  int
}

// question has the turns that its answer is in.
type question struct {
	text     string
	category int
	evidence []int // indexes of turns
}

// conversation is one sample of LoCoMo.
type conversation struct {
	id        string
	turns     []turn
	tokens    int
	questions []question
}

type rawTurn struct {
	Speaker string `json:"speaker"`
	ID      string `json:"dia_id"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

type rawSample struct {
	ID           string                     `json:"sample_id"`
	Conversation map[string]json.RawMessage `json:"conversation"`
	Questions    []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category int      `json:"category"`
	} `json:"qa"`
}

// readLoCoMo reads a file of the benchmark. Adversarial questions (category 5)
// and those without evidence are left out.
func readLoCoMo(path string) ([]conversation, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var samples []rawSample
	if err := json.Unmarshal(data, &samples); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []conversation
	for _, sample := range samples {
		c, err := convert(sample)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, sample.ID, err)
		}
		all = append(all, c)
	}
	return all, nil
}

func convert(sample rawSample) (conversation, error) {
	c := conversation{id: sample.ID}
	at := make(map[string]int)
	for _, n := range sessionNumbers(sample) {
		key := fmt.Sprintf("session_%d", n)
		var when string
		var raw []rawTurn
		if err := json.Unmarshal(sample.Conversation[key+"_date_time"], &when); err != nil {
			return c, fmt.Errorf("%s: %w", key, err)
		}
		start, err := time.Parse("3:04 pm on 2 January, 2006", when)
		if err != nil {
			return c, err
		}
		if err := json.Unmarshal(sample.Conversation[key], &raw); err != nil {
			return c, fmt.Errorf("%s: %w", key, err)
		}
		for _, r := range raw {
			text := r.Text
			if r.Caption != "" {
				text += " [image: " + r.Caption + "]"
			}
			at[r.ID] = len(c.turns)
			c.turns = append(c.turns, turn{r.ID, n, r.Speaker, start, text, (len(text) + 3) / 4})
			c.tokens += (len(text) + 3) / 4
		}
	}
	for _, q := range sample.Questions {
		evidence := evidenceOf(q.Evidence, at)
		if q.Category <= 4 && len(evidence) > 0 {
			c.questions = append(c.questions, question{q.Question, q.Category, evidence})
		}
	}
	return c, nil
}

func sessionNumbers(sample rawSample) (numbers []int) {
	for key := range sample.Conversation {
		if n, err := strconv.Atoi(strings.TrimPrefix(key, "session_")); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

var turnID = regexp.MustCompile(`D(\d+):(\d+)`)

// evidenceOf reads ids; some strings hold several, or none, or zeros before a number.
func evidenceOf(ids []string, at map[string]int) (evidence []int) {
	for _, match := range turnID.FindAllStringSubmatch(strings.Join(ids, " "), -1) {
		session, _ := strconv.Atoi(match[1])
		n, _ := strconv.Atoi(match[2])
		i, ok := at[fmt.Sprintf("D%d:%d", session, n)]
		if ok && !slices.Contains(evidence, i) {
			evidence = append(evidence, i)
		}
	}
	return evidence
}
