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

// trouble is what goes wrong with a service that a script of the emulator cannot
// say, because it happens on the way to it or is about a document.
type trouble struct {
	// Poison is the key of a document that breaks the connection of every request
	// that carries it, as a firewall does that takes it for an attack.
	Poison string `json:"poison,omitempty"`
	// Line is how many bytes of a request arrive in a second, 0 for all at once.
	// Nothing is done about a request that has not arrived when the client gives
	// up.
	Line float64 `json:"line,omitempty"`
	// RetryAfter is the header of every 503, as it stands here.
	RetryAfter string `json:"retryAfter,omitempty"`
	// Firewall is the key of a document for which a firewall answers every request that carries it.
	Firewall string `json:"firewall,omitempty"`
	// Nested has the service say of a field that is missing what it says of an array or an object.
	Nested bool `json:"nested,omitempty"`
	// Clock is how far the clock of the service is ahead of others. Its 503 then have a Retry-After in a second by this
	// clock, and their Date says what it is.
	Clock searchtest.Duration `json:"clock,omitempty"`
	// Named has requests refused that carry a document whose number this divides; the reply names each. 0: none.
	Named int `json:"named,omitempty"`
	// Drifted leaves the field rank out of the index until it is mended.
	Drifted bool `json:"drifted,omitempty"`
}

var errPoison = errors.New("the firewall has seen something in it")

// intercept is for Server.Intercept. It sees a request before the witness,
// for whom one that did not arrive does not exist.
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

// name is for Server.Intercept, behind the witness. It refuses a request as the service does that names each document
// which it does not take.
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

// definition is the index that the service begins with.
func (t *trouble) definition() string {
	if t.Drifted {
		return strings.Replace(indexDefinition, rankField, "", 1)
	}
	return indexDefinition
}

// mend gives the index the field that it lacks, or makes it again.
func mend(emulator *searchtest.Server) error {
	return administer(emulator, http.MethodPut, indexDefinition)
}

// administer does something to the index, as its owner.
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
