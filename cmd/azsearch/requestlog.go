package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// requestLog writes one line a request: method, path, status, duration and, of
// a batch, the number of actions. It shows neither keys nor contents: document
// keys in paths are replaced by a star, and the query is left out.
//
// It hears of a request twice. The emulator's own log line, which it takes as a
// slog.Handler, knows the number of actions, and its interceptor, which runs
// around that, knows the path; the id of the request joins them.
type requestLog struct {
	mu      sync.Mutex // guards what follows
	w       io.Writer
	actions map[string]int64 // by request id, between the two
}

func newRequestLog(w io.Writer) *requestLog {
	return &requestLog{w: w, actions: make(map[string]int64)}
}

// intercept is for Server.Intercept.
func (l *requestLog) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	// The server may change the request while it works on it.
	method, path, start := printable(req.Method), maskedPath(req.URL.EscapedPath()), time.Now()
	resp, err := next(req)
	line := fmt.Sprintf("%s %s ", method, path)
	if err != nil {
		// No reply: the client left, or a faults script cut the connection.
		line += fmt.Sprintf("cut %s", took(start))
	} else {
		line += fmt.Sprintf("%d %s", resp.StatusCode, took(start))
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		id := resp.Header.Get("Request-Id")
		if n, ok := l.actions[id]; ok {
			line += fmt.Sprintf(" %d actions", n)
			delete(l.actions, id)
		}
	}
	fmt.Fprintln(l.w, line)
	return resp, err
}

// Handle remembers how many actions a request had, and writes warnings.
func (l *requestLog) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		line := "azsearch: " + r.Message
		r.Attrs(func(a slog.Attr) bool {
			line += " " + a.Key + "=" + printable(a.Value.String())
			return true
		})
		l.mu.Lock()
		defer l.mu.Unlock()
		_, err := fmt.Fprintln(l.w, line)
		return err
	}
	var id string
	var actions int64
	var failed bool
	r.Attrs(func(a slog.Attr) bool {
		switch v := a.Value.Resolve(); {
		case a.Key == "request_id":
			id = v.String()
		case a.Key == "actions" && v.Kind() == slog.KindInt64:
			actions = v.Int64()
		case a.Key == "error":
			failed = v.Any() != nil
		}
		return true
	})
	// Nobody would come for those of a request without a reply.
	if actions > 0 && !failed {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.actions[id] = actions
	}
	return nil
}

// Enabled, WithAttrs and WithGroup make it a slog.Handler.
func (l *requestLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *requestLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *requestLog) WithGroup(string) slog.Handler            { return l }

func took(start time.Time) time.Duration { return time.Since(start).Round(10 * time.Microsecond) }

// underDocs is what can stand behind /docs/ and is no key of a document.
var underDocs = []string{
	"$count", "index", "search", "suggest", "autocomplete", "search.index", "search.suggest", "search.autocomplete",
	"search.post.search", "search.post.suggest", "search.post.autocomplete",
}

// maskedPath replaces the keys of documents in an escaped path, in both of its
// spellings: /indexes('i')/docs('key') and /indexes/i/docs/key. In doubt it
// replaces too much.
func maskedPath(escaped string) string {
	segments := strings.Split(escaped, "/")
	underneath := false // the segment before was "docs"
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		rest, docs := strings.CutPrefix(plain, "docs")
		switch {
		case err != nil, underneath && !slices.Contains(underDocs, plain):
			segments[i] = "*"
		case docs && rest != "":
			segments[i] = "docs('*')"
		}
		underneath = docs && rest == ""
	}
	return printable(strings.Join(segments, "/"))
}

// printable keeps what a client sends from breaking the line, or the terminal.
func printable(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
