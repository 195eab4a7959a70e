package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctxdb/engine"
)

const secret = "sk-test-0123456789abcdef"

var ctx = context.Background()

// serve answers requests with f and hands out an Embedder of it whose pauses are
// recorded, not slept.
func serve(t *testing.T, f http.HandlerFunc) (e *Embedder, pauses *[]time.Duration) {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	e, err := NewEmbedder(Config{URL: s.URL + "/v1?api-version=7", Model: "tiny", Key: secret})
	if err != nil {
		t.Fatal(err)
	}
	pauses = new([]time.Duration)
	e.client.pause = func(ctx context.Context, d time.Duration) error {
		*pauses = append(*pauses, d)
		return ctx.Err()
	}
	return e, pauses
}

// lengths answers with a vector of each text's length, the last text first.
func lengths(w http.ResponseWriter, r *http.Request) {
	var q embedQuestion
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var data []map[string]any
	for i := len(q.Input) - 1; i >= 0; i-- {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": []float32{float32(len(q.Input[i])), 1}})
	}
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": q.Model})
}

func TestEmbed(t *testing.T) {
	var got *http.Request
	e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { got = r; lengths(w, r) })
	v, err := e.Embed(ctx, []string{"a", "bbb", ""})
	if err != nil || len(v) != 3 || v[0][0] != 1 || v[1][0] != 3 || v[2][0] != 0 {
		t.Fatalf("%v, %v", v, err)
	}
	if got.URL.String() != "/v1/embeddings?api-version=7" || got.Header.Get("Authorization") != "Bearer "+secret || got.Method != "POST" {
		t.Errorf("%s %s, %v", got.Method, got.URL, got.Header)
	}
	if v, err := e.Embed(ctx, nil); err != nil || v != nil {
		t.Errorf("no texts: %v, %v", v, err)
	}
	if e.Model() != "tiny" {
		t.Errorf("model %q", e.Model())
	}
}

func TestNew(t *testing.T) {
	for _, c := range []Config{
		{}, {URL: "localhost:8080", Model: "m"}, {URL: "ftp://host/v1", Model: "m"}, {URL: "http://host/v1"},
		{URL: "http://me:" + secret + "@host/v1", Model: "m"}, {URL: "http://host", Model: "m", Key: secret + "\r\nX: y"},
		{URL: "http://host", Model: "m", Dimensions: -1}, {URL: "http://host", Model: "m", Dimensions: 9000}, {URL: "http://\x7f" + secret, Model: "m"},
	} {
		if _, err := NewEmbedder(c); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%v: %v", c, err)
		}
	}
	for url, want := range map[string]string{
		"http://h/v1": "http://h/v1/embeddings", "http://h/v1/": "http://h/v1/embeddings", "https://h": "https://h/embeddings",
		"http://h/v1/embeddings": "http://h/v1/embeddings", "http://h/v1/embeddings?x=1": "http://h/v1/embeddings?x=1",
	} {
		if e, err := NewEmbedder(Config{URL: url, Model: "m", Dimensions: 8}); err != nil || e.client.url != want || e.Model() != "m@8" {
			t.Errorf("%s: %+v, %v", url, e, err)
		}
	}
	if s := fmt.Sprintf("%v %+v %#v", Config{Key: secret}, Config{Key: secret}, Config{Key: secret}); strings.Contains(s, secret) {
		t.Error(s)
	}
}

// TestWrongAnswers: each is an error that says where, and not the key.
func TestWrongAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   string
	}{
		"count":       {`{"data":[{"index":0,"embedding":[1]}]}`, "1 vectors of 2"},
		"none":        {`{}`, "0 vectors of 2"},
		"null":        {`null`, "0 vectors of 2"},
		"twice":       {`{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}`, "index 1"},
		"index":       {`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, "index 2"},
		"negative":    {`{"data":[{"index":-1,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "index -1"},
		"some":        {`{"data":[{"index":1,"embedding":[1]},{"embedding":[1]}]}`, "only some"},
		"empty":       {`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[1]}]}`, "empty"},
		"cut":         {`{"data":[{"index":0,"embedding":[1`, "not the JSON"},
		"html":        {`<html>` + secret, "not the JSON"},
		"infinite":    {`{"data":[{"index":0,"embedding":[1e99]},{"index":1,"embedding":[1]}]}`, "not the JSON"},
		"text vector": {`{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":"AAAA"}]}`, "not the JSON"},
	} {
		calls := 0
		e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { calls++; io.WriteString(w, c.answer) })
		v, err := e.Embed(ctx, []string{"a", "b"})
		if err == nil || v != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "/v1/embeddings: ") || calls != 1 {
			t.Errorf("%s: %v, %v, %d calls", name, v, err, calls)
		}
		if strings.Contains(err.Error(), "api-version") {
			t.Errorf("%s: the query stands in %v", name, err)
		}
	}
	e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"embedding":[1]},{"embedding":[2]}]}`)
	})
	if v, err := e.Embed(ctx, []string{"a", "b"}); err != nil || v[1][0] != 2 {
		t.Errorf("without indexes: %v, %v", v, err)
	}
	e.dimensions = 2
	if _, err := e.Embed(ctx, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "2 were asked for") {
		t.Errorf("dimensions: %v", err)
	}
}

// TestHugeAnswer: reading stops at the bound, whatever comes.
func TestHugeAnswer(t *testing.T) {
	var sent atomic.Int64
	e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		zeros := []byte(strings.Repeat(" ", 1<<16))
		for range 1 << 12 {
			n, err := w.Write(zeros)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	e.dimensions = 4
	if _, err := e.Embed(ctx, []string{"a"}); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
	if n := sent.Load(); n >= 1<<28 {
		t.Errorf("%d bytes were taken", n)
	}
}

// TestAgain: what may pass is tried again, a bounded number of times, after what
// the server asks for.
func TestAgain(t *testing.T) {
	for _, code := range []int{408, 429, 500, 502, 503, 504} {
		calls := 0
		e, pauses := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if calls++; calls == 1 {
				w.Header().Set("Retry-After", "7")
			}
			if calls < 3 {
				w.WriteHeader(code)
				return
			}
			lengths(w, r)
		})
		if _, err := e.Embed(ctx, []string{"a"}); err != nil || calls != 3 || len(*pauses) != 2 || (*pauses)[0] != 7*time.Second || (*pauses)[1] != time.Second {
			t.Errorf("%d: %v, %d calls, pauses %v", code, err, calls, *pauses)
		}
	}
	calls := 0
	e, pauses := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.WriteHeader(429)
		io.WriteString(w, `{"error":{"message":"quota of key `+secret+` is used up\n","code":1}}`)
	})
	_, err := e.Embed(ctx, []string{"a"})
	if err == nil || calls != defaultAttempts || len(*pauses) != defaultAttempts-1 || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "429") || !strings.Contains(err.Error(), "quota of key [key] is used up") {
		t.Errorf("for ever: %v, %d calls", err, calls)
	}
	if errors.Is(err, engine.ErrRefused) {
		t.Error("the texts are blamed for a quota")
	}
	e, pauses = serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(503)
	})
	if _, err := e.Embed(ctx, []string{"a"}); err == nil || len(*pauses) != 0 || !strings.Contains(err.Error(), "1h0m0s") {
		t.Errorf("an hour: %v, %v", err, *pauses)
	}
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	e, pauses = serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(503)
	})
	if _, err := e.Embed(short, []string{"a"}); err == nil || len(*pauses) != 0 || !strings.Contains(err.Error(), "no time") {
		t.Errorf("no time: %v", err)
	}
}

// TestNotAgain: what will not pass is asked once; texts are blamed where they are
// to blame.
func TestNotAgain(t *testing.T) {
	for code, refused := range map[int]bool{400: true, 413: true, 422: true, 401: false, 403: false, 404: false, 501: false, 204: false} {
		calls := 0
		e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			calls++
			w.WriteHeader(code)
			if code != 204 {
				io.WriteString(w, `{"error":"wrong `+r.Header.Get("Authorization")+"\x1b[31m"+`"}`)
			}
		})
		_, err := e.Embed(ctx, []string{"a"})
		if err == nil || calls != 1 || errors.Is(err, engine.ErrRefused) != refused || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), fmt.Sprint(code)) {
			t.Errorf("%d: %v, %d calls", code, err, calls)
		}
	}
}

// TestRedirect: texts and key go to the endpoint and nowhere else.
func TestRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, code) })
		if _, err := e.Embed(ctx, []string{"a"}); err == nil || !strings.Contains(err.Error(), "not followed") {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// TestBreaksOff: an answer that ends early, and a server that is not there, are
// tried again.
func TestBreaksOff(t *testing.T) {
	calls := 0
	e, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls > 1 {
			lengths(w, r)
			return
		}
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, `{"data":[`)
	})
	if _, err := e.Embed(ctx, []string{"a"}); err != nil || calls != 2 {
		t.Errorf("%v, %d calls", err, calls)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	e, err := NewEmbedder(Config{URL: gone.URL, Model: "m", Key: secret, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	pauses := 0
	e.client.pause = func(context.Context, time.Duration) error { pauses++; return nil }
	if _, err := e.Embed(ctx, []string{"a"}); err == nil || pauses != 1 || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), gone.URL) {
		t.Errorf("%v, %d pauses", err, pauses)
	}
}

// TestTimes: a server that says nothing is left at the time-out, and at once when
// the context ends.
func TestTimes(t *testing.T) {
	stop := make(chan struct{})
	asked := make(chan struct{}, 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(stop)
	e, err := NewEmbedder(Config{URL: s.URL, Model: "m", Timeout: 20 * time.Millisecond, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	e.client.pause = func(context.Context, time.Duration) error { return nil }
	if _, err := e.Embed(ctx, []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("time-out: %v", err)
	}
	for len(asked) > 0 {
		<-asked
	}
	e.client.timeout = time.Hour
	cancelled, cancel := context.WithCancel(ctx)
	go func() { <-asked; cancel() }()
	if _, err := e.Embed(cancelled, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	e.client.pause = sleep
	if _, err := e.Embed(cancelled, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	if err := sleep(cancelled, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("sleep: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2025, 5, 6, 7, 8, 9, 0, time.UTC)
	for s, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, " 2.5 ": 2500 * time.Millisecond, "-1": 0, "soon": 0,
		"Tue, 06 May 2025 07:08:39 GMT": 30 * time.Second, "Tue, 06 May 2025 07:00:00 GMT": 0,
	} {
		if got := retryAfter(s, now); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}
