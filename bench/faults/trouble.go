package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// trouble has faults that a script of the emulator cannot cause, because they concern the way to the service or a
// single document.
type trouble struct {
	// Poison is the key of a document that breaks the connection of every request with it, like a firewall that takes
	// it for an attack.
	Poison string `json:"poison,omitempty"`
	// Line is the bandwidth of a request in bytes per second, 0 for unlimited. A request that has not arrived when
	// the client gives up has no effect.
	Line float64 `json:"line,omitempty"`
	// RetryAfter is the Retry-After header of every 503, verbatim.
	RetryAfter string `json:"retryAfter,omitempty"`
	// Firewall is the key of a document. A firewall replies to every request with it.
	Firewall string `json:"firewall,omitempty"`
	// Nested changes the message for a missing field to that for a missing array or object.
	Nested bool `json:"nested,omitempty"`
	// Clock is how far the service's clock is ahead. Its 503 replies have Date by this clock and Retry-After as a
	// date one second later.
	Clock searchtest.Duration `json:"clock,omitempty"`
	// Named makes every document whose number it divides invalid. Requests with some are refused, and the reply names
	// them. 0: none.
	Named int `json:"named,omitempty"`
	// Drifted omits the field rank from the index until it is repaired.
	Drifted bool `json:"drifted,omitempty"`
}

var errPoison = errors.New("the firewall has seen something in it")

// intercept is for Server.Intercept, in front of the witness, which must not record a request that does not arrive.
func (t *trouble) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if req.Method == http.MethodPost && req.Body != nil && (t.Line > 0 || t.Poison != "") {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		if t.Line > 0 {
			takes := time.Duration(float64(len(body)) / t.Line * float64(time.Second))
			if !sleepUntil(req.Context(), time.Now().Add(takes)) {
				return nil, req.Context().Err()
			}
		}
		if t.Poison != "" && bytes.Contains(body, fmt.Appendf(nil, `"id":%q`, t.Poison)) {
			return nil, errPoison
		}
	}
	resp, err := next(req)
	if err == nil && t.RetryAfter != "" && resp.StatusCode == http.StatusServiceUnavailable {
		resp.Header.Set("Retry-After", t.RetryAfter)
	}
	if err == nil && t.Clock != 0 && resp.StatusCode == http.StatusServiceUnavailable {
		now := time.Now().Add(time.Duration(t.Clock)).UTC()
		resp.Header.Set("Date", now.Format(http.TimeFormat))
		resp.Header.Set("Retry-After", now.Add(time.Second).Format(http.TimeFormat))
	}
	if err == nil && t.Nested && resp.StatusCode == http.StatusBadRequest {
		err = nested(resp)
	}
	return resp, err
}

// name is for Server.Intercept, behind the witness. It refuses a request like a service that names each invalid
// document.
func (t *trouble) name(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if t.Named == 0 || req.Method != http.MethodPost || req.Body == nil {
		return next(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	var batch struct {
		Value []struct {
			ID string `json:"id"`
		} `json:"value"`
	}
	if err := json.Unmarshal(body, &batch); err != nil {
		return nil, err
	}
	var texts, details []string
	for i, d := range batch.Value {
		if n, err := strconv.Atoi(strings.TrimPrefix(d.ID, "d")); err == nil && n%t.Named == 0 {
			text := fmt.Sprintf("%d: The vector of %s is too short.", i, d.ID)
			texts = append(texts, text)
			details = append(details, fmt.Sprintf(`{"code":"BadVector","message":"%s Parameters: actions"}`, text))
		}
	}
	if len(texts) == 0 {
		return next(req)
	}
	refusal := front{http.StatusBadRequest, "application/json", fmt.Sprintf(`{"error":{"code":"OperationNotAllowed","message":"The request is invalid. Details: actions : %s","details":[%s]}}`,
		strings.Join(texts, " "), strings.Join(details, ","))}
	return refusal.reply(req), nil
}

// definition returns the initial definition of the index.
func (t *trouble) definition() string {
	if t.Drifted {
		return strings.Replace(indexDefinition, rankField, "", 1)
	}
	return indexDefinition
}

// This adds the missing field to the index, or creates the index again.
func mend(emulator *searchtest.Server) error {
	return administer(emulator, http.MethodPut, indexDefinition)
}

// administer sends a request about the index with an admin key.
func administer(emulator *searchtest.Server, method, body string) error {
	req, err := http.NewRequest(method, "http://emulator/indexes/"+indexName+"?api-version=2024-07-01", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Api-Key", secondKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := emulator.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("%s of the index: %s: %s", method, resp.Status, text)
	}
	return nil
}
