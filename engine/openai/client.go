package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ctxdb/engine"
)

// Config says where a model is. URL and Model are needed; the zero value of each
// other field is its default.
type Config struct {
	// URL is that of the endpoint, as in https://api.openai.com/v1; a path that
	// ends in embeddings or chat/completions is taken as it is.
	URL   string
	Model string
	// Key is sent as a bearer token; "": none is. Take it from the environment.
	Key string
	// Timeout of one request, its answer included; 0: a minute.
	Timeout time.Duration
	// Attempts is how often a request is sent at most; 0: 4.
	Attempts int
	// Dimensions asks for vectors of so many; 0: as the model likes. Then the
	// name of the Embedder is Model, an @ and this number.
	Dimensions int
	// HTTP sends the requests; nil: a client of this package. Its CheckRedirect
	// is not asked.
	HTTP *http.Client
}

// String says where the model is, without the key.
func (c Config) String() string { return fmt.Sprintf("model %s at %s", c.Model, c.URL) }

// GoString is String: a key is not printed by %#v either.
func (c Config) GoString() string { return c.String() }

const (
	defaultTimeout  = time.Minute
	defaultAttempts = 4
	firstPause      = 500 * time.Millisecond // doubles with each attempt
	longestPause    = time.Minute            // that a server may ask for
	errorBytes      = 64 << 10               // read of an answer that is an error
	messageBytes    = 200                    // of it in an error
)

// client sends requests to one address.
type client struct {
	url      string
	place    string // the same for messages: without query and user
	key      string
	attempts int
	timeout  time.Duration
	http     *http.Client
	pause    func(ctx context.Context, d time.Duration) error // a test's
}

// newClient makes the client for an operation's path, as in "embeddings".
func newClient(c *Config, path string) (*client, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("openai: the URL is not one like http://localhost:8080/v1")
	}
	if u.User != nil {
		return nil, errors.New("openai: the URL holds a password; give it as a key")
	}
	if c.Model == "" {
		return nil, errors.New("openai: no model is named")
	}
	if strings.ContainsAny(c.Key, "\r\n") {
		return nil, errors.New("openai: the key has a line break")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(u.Path, "/"+path) {
		u.Path += "/" + path
	}
	k := &client{url: u.String(), place: u.Scheme + "://" + u.Host + u.Path, key: c.Key, attempts: c.Attempts, timeout: c.Timeout, pause: sleep}
	if k.attempts <= 0 {
		k.attempts = defaultAttempts
	}
	if k.timeout <= 0 {
		k.timeout = defaultTimeout
	}
	k.http = &http.Client{}
	if c.HTTP != nil {
		*k.http = *c.HTTP
	}
	k.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return k, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// post sends a question and reads the answer, of at most limit bytes, into
// answer. What may pass is tried again.
func (k *client) post(ctx context.Context, question, answer any, limit int64) error {
	body, err := json.Marshal(question)
	if err != nil {
		return k.wrap(err)
	}
	for attempt := 1; ; attempt++ {
		err := k.once(ctx, body, answer, limit)
		var again *passing
		if err == nil || !errors.As(err, &again) {
			return err
		}
		if ctx.Err() != nil {
			return k.wrap(context.Cause(ctx))
		}
		if attempt >= k.attempts {
			return err
		}
		wait := max(again.after, firstPause<<min(attempt-1, 10))
		if again.after > longestPause {
			return fmt.Errorf("%w; it asks to wait %v", err, again.after.Round(time.Second))
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
			return fmt.Errorf("%w; there is no time to ask again", err)
		}
		if err := k.pause(ctx, min(wait, longestPause)); err != nil {
			return k.wrap(err)
		}
	}
}

// passing is a failure that another attempt may not meet.
type passing struct {
	err   error
	after time.Duration // that the server asks for
}

func (p *passing) Error() string { return p.err.Error() }
func (p *passing) Unwrap() error { return p.err }

func (k *client) once(ctx context.Context, body []byte, answer any, limit int64) error {
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, k.url, bytes.NewReader(body))
	if err != nil {
		return k.wrap(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if k.key != "" {
		r.Header.Set("Authorization", "Bearer "+k.key)
	}
	resp, err := k.http.Do(r)
	if err != nil {
		return &passing{err: k.wrap(bare(err))}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return k.refusal(resp)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return &passing{err: k.wrap(fmt.Errorf("the answer breaks off after %d bytes: %w", len(b), err))}
	}
	if int64(len(b)) > limit {
		return k.wrap(fmt.Errorf("the answer is longer than %d bytes", limit))
	}
	if err := json.Unmarshal(b, answer); err != nil {
		return k.wrap(errors.New("the answer is not the JSON that is expected: " + k.quote([]byte(err.Error()))))
	}
	return nil
}

// bare drops the address that net/http puts before its errors: it has the query.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refusal is the error of an answer that is none.
func (k *client) refusal(resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, errorBytes))
	err := fmt.Errorf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	if said := k.quote(message(b)); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", engine.ErrRefused, k.wrap(err))
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &passing{err: k.wrap(err), after: retryAfter(resp.Header.Get("Retry-After"), time.Now())}
	}
	if resp.StatusCode/100 == 3 {
		err = fmt.Errorf("%w: it sends elsewhere, which is not followed; name that place", err)
	}
	return k.wrap(err)
}

// message takes the message out of an error's JSON, or what there is.
func message(b []byte) []byte {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	var inner struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(b, &e) == nil && len(e.Error) > 0 {
		if json.Unmarshal(e.Error, &inner) == nil && inner.Message != "" {
			return []byte(inner.Message)
		}
		return e.Error
	}
	return b
}

// quote makes what a server says fit for an error: short, on one line, without
// the key.
func (k *client) quote(b []byte) string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "")), " ")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if k.key != "" {
		s = strings.ReplaceAll(s, k.key, "[key]")
	}
	if r := []rune(s); len(r) > messageBytes {
		s = string(r[:messageBytes]) + "…"
	}
	return s
}

func (k *client) wrap(err error) error { return fmt.Errorf("%s: %w", k.place, err) }

// retryAfter reads seconds or a date; 0: nothing was asked for.
func retryAfter(s string, now time.Time) time.Duration {
	if d, err := time.ParseDuration(strings.TrimSpace(s) + "s"); err == nil && d >= 0 {
		return d
	}
	if t, err := http.ParseTime(s); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}
