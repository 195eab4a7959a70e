package lex

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Date is a day, a month or a year that a question names. Parts that are not
// named are 0; at least one of Year and Month is named.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DaysFrom tells how many days t is away from the date: 0 within it, negative
// before it. A date without a year is the one nearest to t.
func (d Date) DaysFrom(t time.Time) float64 {
	if d.Year != 0 {
		return d.in(d.Year, t)
	}
	best := d.in(t.Year(), t)
	for _, year := range []int{t.Year() - 1, t.Year() + 1} {
		if days := d.in(year, t); math.Abs(days) < math.Abs(best) {
			best = days
		}
	}
	return best
}

func (d Date) in(year int, t time.Time) float64 {
	from, to := d.span(year)
	local := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
	switch {
	case local.Before(from):
		return -from.Sub(local).Hours() / 24
	case local.Before(to):
		return 0
	}
	return local.Sub(to).Hours() / 24
}

func (d Date) span(year int) (from, to time.Time) {
	switch {
	case d.Month == 0:
		from = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		return from, from.AddDate(1, 0, 0)
	case d.Day == 0:
		from = time.Date(year, d.Month, 1, 0, 0, 0, 0, time.UTC)
		return from, from.AddDate(0, 1, 0)
	}
	from = time.Date(year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
	return from, from.AddDate(0, 0, 1)
}

var months = func() map[string]time.Month {
	m := make(map[string]time.Month)
	for month := time.January; month <= time.December; month++ {
		name := strings.ToLower(month.String())
		m[name] = month
		m[name[:3]] = month
	}
	m["sept"] = time.September
	return m
}()

// dates finds "7 May 2023", "May 7th", "in May", "2023-05-07" and "in 2023".
func dates(question string) (found []Date) {
	words := strings.FieldsFunc(question, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '-'
	})
	for i := 0; i < len(words); i++ {
		if t, err := time.Parse("2006-01-02", words[i]); err == nil {
			found = append(found, Date{t.Year(), t.Month(), t.Day()})
			continue
		}
		if month, ok := monthAt(words, i); ok {
			d := Date{Month: month}
			next := i + 1
			if i > 0 {
				d.Day = dayOf(words[i-1])
			}
			if d.Day == 0 && i > 1 && words[i-1] == "of" {
				d.Day = dayOf(words[i-2])
			}
			if d.Day == 0 && next < len(words) && dayOf(words[next]) != 0 {
				d.Day = dayOf(words[next])
				next++
			}
			if next < len(words) && yearOf(words[next]) != 0 {
				d.Year = yearOf(words[next])
				i = next
			}
			found = append(found, d)
			continue
		}
		if year := yearOf(words[i]); year != 0 {
			found = append(found, Date{Year: year})
		}
	}
	return found
}

// monthAt knows a month. "may" and "march" are verbs unless they are capitalised.
func monthAt(words []string, i int) (time.Month, bool) {
	w := words[i]
	if strings.HasPrefix(strings.ToLower(w), "ma") && !unicode.IsUpper(rune(w[0])) {
		return 0, false
	}
	month, ok := months[strings.ToLower(w)]
	return month, ok
}

func dayOf(w string) int {
	for _, ending := range []string{"st", "nd", "rd", "th"} {
		w = strings.TrimSuffix(w, ending)
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 1 || n > 31 {
		return 0
	}
	return n
}

func yearOf(w string) int {
	if len(w) != 4 || !isYear([]byte(w)) {
		return 0
	}
	n, err := strconv.Atoi(w)
	if err != nil {
		return 0
	}
	return n
}
