package listing

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
)

// Safe returns s unchanged if it is plain text without spaces, else quoted as in Go, so that it cannot control a
// terminal.
func Safe(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r == unicode.ReplacementChar || r == '"' || r == '\\' || r == ' ' || !strconv.IsPrint(r)
	})
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// sentence is Safe for text that may have spaces.
func sentence(s string) string {
	if plain := Safe(strings.ReplaceAll(s, " ", "_")); s == "" || plain[0] != '"' {
		return s
	}
	return strconv.Quote(s)
}

// text prints results as text.
type text struct {
	w   io.Writer
	now time.Time
}

func (t text) Stats(name string, s *queue.Stats, survives string) error {
	w := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	row := func(label, format string, args ...any) { fmt.Fprintf(w, label+"\t"+format+"\n", args...) }
	row("queue", "%s", Safe(name))
	if s.Paused {
		row("paused", "%s", orNone(sentence(s.PauseReason), "no reason was given"))
	}
	row("waiting", "%s%s", amount.Of(s.Waiting, "key"), t.oldest(s))
	row("leased", "%s", amount.Of(s.Leased, "key"))
	row("parked", "%s", amount.Of(s.Parked, "key"))
	row("size", "%s", amount.Of(s.Bytes, "byte"))
	row("appended", "%s, %d replaced by later ones, %d saved by folding", amount.Of(s.Appended, "record"), s.Replaced, s.Folded)
	row("leases", "%d expired, %d settled too late", s.Expired, s.Stale)
	if !s.LastReserved.IsZero() {
		row("polled", "%s", t.ago(s.LastReserved))
	}
	if survives != "" {
		row("survives", "%s", survives)
	}
	if s.Estimated {
		row("", "(some of these numbers are approximate)")
	}
	return w.Flush()
}

func (t text) oldest(s *queue.Stats) string {
	if s.Oldest.IsZero() {
		return ""
	}
	return ", the oldest change " + t.ago(s.Oldest)
}

func (t text) ago(at time.Time) string {
	return round(max(t.now.Sub(at), 0)).String() + " ago"
}

// round rounds a duration for display.
func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

func (t text) Entry(e *queue.Entry, bodies bool) error {
	var b strings.Builder
	b.WriteString(Safe(e.Key))
	sep := ": "
	add := func(format string, args ...any) {
		fmt.Fprintf(&b, sep+format, args...)
		sep = ", "
	}
	if e.State&queue.Leased != 0 {
		add("%d leased by %s until %s", len(e.Leased), orNone(sentence(e.Holder), "an unnamed holder"), e.Until.Local().Format(time.TimeOnly))
	}
	if e.State&queue.Parked != 0 {
		add("%d parked %s (%s)", len(e.Parked), t.ago(e.ParkedAt), orNone(sentence(e.Reason), "no reason was given"))
	}
	if e.State&queue.Waiting != 0 {
		add("%d waiting", len(e.Waiting))
		if e.State != queue.Waiting {
			b.WriteString(" behind")
		}
	}
	add("since %s", t.ago(e.Since))
	if e.Class > 0 {
		add("class %d", e.Class)
	}
	if e.Due.After(t.now) {
		add("not due for %v", round(e.Due.Sub(t.now)))
	}
	if e.Expired > 0 {
		add("%s expired", amount.Of(e.Expired, "lease"))
	}
	if e.Deaths > 0 {
		add("%s died while holding it", amount.Of(e.Deaths, "holder"))
	}
	if e.Tries > 0 {
		add("released %s to be tried again", times(e.Tries))
	}
	if e.Replaced != nil {
		add("replaced a parked record (%s)", orNone(sentence(e.ReplacedReason), "no reason was given"))
	}
	b.WriteByte('\n')
	if bodies {
		records(&b, "leased", e.Leased)
		records(&b, "parked", e.Parked)
		records(&b, "waiting", e.Waiting)
		if e.Replaced != nil {
			records(&b, "replaced", []queue.Record{*e.Replaced})
		}
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return amount.Of(n, "time")
}

func records(b *strings.Builder, state string, all []queue.Record) {
	for i := range all {
		r := &all[i]
		op := "changed" // the action is not known, only the key
		if r.Op != "" {
			op = Safe(string(r.Op))
		}
		fmt.Fprintf(b, "  %s %s %s\n", state, op, Printable(string(r.Body)))
	}
}

// Printable returns text with unprintable characters escaped as in JSON.
func Printable(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, string(unicode.ReplacementChar)) {
		switch {
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func (t text) Done(_ any, sentence string) error {
	_, err := fmt.Fprintln(t.w, sentence)
	return err
}

func (t text) More(sentence string) error { return t.Done(nil, sentence) }
