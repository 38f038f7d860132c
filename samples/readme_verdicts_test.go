package samples_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry"
)

// row matches a row of the table "What happens when" in GUARANTEES.md: document or request, statuses, and the
// sender's reaction.
var row = regexp.MustCompile(`(?m)^\| (document|request) ([^|]+)\| ([^|]+)\|`)

var status = regexp.MustCompile(`\b[1-5]\d\d\b`)

// The table describes package retry, so it must agree with it.
func TestVerdictsInTheGuaranteesAreThoseOfTheTable(t *testing.T) {
	words := map[string]func(retry.Decision) bool{
		"fails at once":  func(d retry.Decision) bool { return d.Verdict == retry.Fail && !d.Permanent },
		"halved":         func(d retry.Decision) bool { return d.Verdict == retry.Split },
		"set apart":      func(d retry.Decision) bool { return d.Verdict == retry.Split },
		"nothing fails:": func(d retry.Decision) bool { return d.Permanent },
		"retried":        func(d retry.Decision) bool { return d.Verdict == retry.Retry },
		"slows down":     func(d retry.Decision) bool { return d.Verdict == retry.Retry && d.Pause },
		"sent again":     func(d retry.Decision) bool { return d.Verdict == retry.Retry && d.Pause },
	}
	seen := map[string]bool{}
	for _, r := range row.FindAllStringSubmatch(read(t, "bufferedsender/GUARANTEES.md"), -1) {
		about, what := r[1], r[3]
		var says func(retry.Decision) bool
		for word, check := range words {
			if strings.Contains(what, word) {
				says = check
			}
		}
		require.NotNil(t, says, "no word of this row is known: %s", what)
		for _, text := range status.FindAllString(r[2], -1) {
			code, err := strconv.Atoi(text)
			require.NoError(t, err)
			decision := retry.ForRequest(code)
			if about == "document" {
				decision = retry.ForDocument(code)
			}
			assert.True(t, says(decision), "%s %d: GUARANTEES.md says %q, the table %+v", about, code, what, decision)
			seen[about+" "+text] = true
		}
	}
	for _, code := range []int{400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504} {
		assert.True(t, seen["request "+strconv.Itoa(code)], "GUARANTEES.md says nothing about a request with status %d", code)
	}
	for _, code := range []int{400, 404, 409, 422, 429, 503} {
		assert.True(t, seen["document "+strconv.Itoa(code)], "GUARANTEES.md says nothing about a document with status %d", code)
	}
}
