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

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
)

// requestLog writes one line per request: method, path, status, duration and, for a batch, the number of actions. It
// shows neither keys nor contents: it replaces document keys in paths by a star, and leaves out the query.
//
// It receives each request twice. As a slog.Handler it takes the emulator's own log line, which has the number of
// actions; as an interceptor, which runs around that, it has the path. The request id joins the two.
type requestLog struct {
	mu      sync.Mutex // guards the fields below
	w       io.Writer
	actions map[string]int64 // by request id, from Handle until intercept
}

func newRequestLog(w io.Writer) *requestLog {
	return &requestLog{w: w, actions: make(map[string]int64)}
}

// intercept is an interceptor for Server.Intercept. It writes the line when the request has ended.
func (l *requestLog) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	// The server may change the request while handling it.
	method, path, start := printable(req.Method), maskedPath(req.URL.EscapedPath()), time.Now()
	resp, err := next(req)
	line := fmt.Sprintf("%s %s ", method, path)
	if err != nil {
		// No reply: the client disconnected, or a fault script cut the connection.
		line += fmt.Sprintf("cut %s", took(start))
	} else {
		line += fmt.Sprintf("%d %s", resp.StatusCode, took(start))
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		id := resp.Header.Get("Request-Id")
		if n, ok := l.actions[id]; ok {
			line += fmt.Sprintf(" %d %s", n, amount.Noun(n, "action"))
			delete(l.actions, id)
		}
	}
	fmt.Fprintln(l.w, line)
	return resp, err
}

// Handle stores the number of actions of a request for intercept, and writes warnings.
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
	// intercept does not fetch the number of a request without a reply.
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

// underDocs are the path segments that can follow /docs/ and are not document keys.
var underDocs = []string{
	"$count", "index", "search", "suggest", "autocomplete", "search.index", "search.suggest", "search.autocomplete",
	"search.post.search", "search.post.suggest", "search.post.autocomplete",
}

// maskedPath replaces document keys in an escaped path, in both spellings: /indexes('i')/docs('key') and
// /indexes/i/docs/key. A segment that it cannot classify is replaced, too.
func maskedPath(escaped string) string {
	segments := strings.Split(escaped, "/")
	underneath := false // the previous segment was "docs"
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

// printable cuts s to 200 bytes, and replaces characters that could break the line or control a terminal.
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
