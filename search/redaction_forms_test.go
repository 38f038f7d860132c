package search_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

// texts returns what an error and the azcore error in it print.
func texts(t *testing.T, err error) string {
	t.Helper()
	var e *search.Error
	require.ErrorAs(t, err, &e)
	var answer *azcore.ResponseError
	require.ErrorAs(t, err, &answer)
	return fmt.Sprintf("%v %+v %v %s", err, e, answer, e.Message)
}

// TestRepliesThatAreNotOneJSONValueHideSecrets.
func TestRepliesThatAreNotOneJSONValueHideSecrets(t *testing.T) {
	inJSON := strings.Replace(testKey, "ABC", `\u0041BC`, 1)
	for _, body := range []string{
		`403 Forbidden: api-key: ` + testKey,
		`{"error":{"message":"no"}} api-key: ` + testKey,
		`{"error":{"message":"no"}}` + "\n" + `{"api-key":"` + inJSON + `"}`,
		`"x" ` + testKey,
		`null` + testKey,
		`[]{"a":"` + inJSON + `"`,
		`denied: ` + inJSON,
		`{"error":{"message":"` + inJSON + `","message":"no"}}`, // the last of two members counts
		`{"error":{"message":"no","a":"` + inJSON,
		testKey[:20] + "\xff" + testKey[20:], // not dropped: the rest would be the key
	} {
		for _, status := range []int{http.StatusForbidden, http.StatusNonAuthoritativeInfo} {
			_, err := newIndexClient(t, reply(status, body)).GetIndex(t.Context(), "hotels", nil)
			shown := texts(t, err)
			for _, key := range []string{testKey, inJSON} {
				assert.NotContains(t, shown, key, "%d %s", status, body)
			}
		}
	}
}

// TestEncodedSecretsAreHidden, also those that were encoded twice and those with escapes of their own.
func TestEncodedSecretsAreHidden(t *testing.T) {
	encoders := map[string]func(string) string{
		"JSON": func(s string) string { b, _ := json.Marshal(s); return strings.Trim(string(b), `"`) },
		"URL":  url.QueryEscape,
		"path": func(s string) string {
			return regexp.MustCompile("%..").ReplaceAllStringFunc(url.PathEscape(s), strings.ToLower)
		},
		"HTML":      html.EscapeString,
		"all of it": func(s string) string { return each(s, `\u%04X`) },
		"numbers":   func(s string) string { return each(s, "&#%d;") },
		"hex":       func(s string) string { return each(s, "&#x%X;") },
		"as it is":  func(s string) string { return s },
	}
	for _, secret := range []string{
		"Server=x;Password=é+ü/=\"'&<a\\b\\\\ c%41%2B😀&amp;", "aaaa+bbbb/cccc==", `\\\\\\\\`, "%25%25%25", "abcdef%2Bghi", "n\tt\nr\\n",
	} {
		for first, encode := range encoders {
			for second, again := range encoders {
				shown := strings.Repeat("x ", 3) + again(encode(secret)) + " y"
				_, err := indexerFor(t, reply(400, shown)).CreateDataSource(t.Context(), source(secret), nil)
				assert.Contains(t, texts(t, err), "x x x *** y", "%q %s %s", secret, first, second)
			}
		}
	}
	const code = `{"error":{"code":"C","message":"line\nabcdef12 and \"quoted\" é"}}`
	_, err := indexerFor(t, reply(400, code)).CreateDataSource(t.Context(), source("nabcdef12"), nil)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "C", e.Code, "the text is still JSON")
}

// each formats each UTF-16 unit for \u, else each character.
func each(s, format string) string {
	var b strings.Builder
	if strings.HasPrefix(format, `\u`) {
		for _, unit := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&b, format, unit)
		}
		return b.String()
	}
	for _, r := range s {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

// TestReplyCutWithinASecretHidesItsBeginning.
func TestReplyCutWithinASecretHidesItsBeginning(t *testing.T) {
	const limit = 4 << 20
	for name, body := range map[string]io.Reader{
		"broken off": io.MultiReader(strings.NewReader(`{"error":{"message":"no: `+testKey[:30]), iotest.ErrReader(io.ErrUnexpectedEOF)),
		"too long":   strings.NewReader(strings.Repeat(" ", limit-30) + testKey),
	} {
		_, err := newIndexClient(t, &wire{answer: func(int, *http.Request) (*http.Response, error) {
			resp := response(http.StatusForbidden, "")
			resp.Body = io.NopCloser(body)
			return resp, nil
		}}).GetIndex(t.Context(), "hotels", nil)
		assert.NotContains(t, texts(t, err), testKey[:6], name)
	}
}

// BenchmarkHideInEscapes: a long reply in a language whose letters a service escapes, and a long token.
func BenchmarkHideInEscapes(b *testing.B) {
	body := `{"error":{"message":"` + strings.Repeat(`\u0434`, 100_000) + strings.Repeat("eyJ", 10_000) + `"}}`
	user := search.WithUserToken(b.Context(), "Bearer "+strings.Repeat("eyJ0eXAi", 250)+strconv.Itoa(b.N))
	for b.Loop() {
		_, err := search.GetDocument[hotel](user, newClient(b, reply(403, body)), "1", nil)
		if bytes.Contains([]byte(err.Error()), []byte(testKey)) {
			b.Fatal(err)
		}
	}
}
