package bufferedsender_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type (
	foldAction  = models.IndexDocumentsAction[models.Document]
	foldOptions = bufferedsender.Options[models.Document]
)

const foldIndex = `{"name":"hotels","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"name","type":"Edm.String"},
	{"name":"rooms","type":"Edm.Int32"},
	{"name":"tags","type":"Collection(Edm.String)"},
	{"name":"address","type":"Edm.ComplexType","fields":[
		{"name":"city","type":"Edm.String"},
		{"name":"zip","type":"Edm.String"},
		{"name":"owner","type":"Edm.ComplexType","fields":[{"name":"first","type":"Edm.String"},{"name":"last","type":"Edm.String"}]}]}]}`

// foldRig is a sender of documents of any form, and what it sends.
type foldRig struct {
	t      *testing.T
	srv    *searchtest.Server
	sender *bufferedsender.BufferedSender[models.Document]
	ledger ledger

	mu   sync.Mutex
	sent []string // each action that travelled: "upload {…}"
	at   []int    // how many actions each request had
	wait func(n int) time.Duration
}

func newFoldRig(t *testing.T, opts *foldOptions) *foldRig {
	t.Helper()
	r := &foldRig{t: t, srv: searchtest.NewServer(nil)}
	require.NoError(t, r.srv.CreateIndex(foldIndex))
	r.srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		raw, err := io.ReadAll(req.Body)
		if err != nil || !strings.HasSuffix(req.URL.Path, "/docs/search.index") {
			req.Body = io.NopCloser(bytes.NewReader(raw))
			return next(req)
		}
		req.Body = io.NopCloser(bytes.NewReader(raw))
		var body struct{ Value []map[string]any }
		if err := json.Unmarshal(raw, &body); err != nil {
			return nil, err
		}
		r.mu.Lock()
		for _, v := range body.Value {
			typ := v["@search.action"]
			delete(v, "@search.action")
			doc, _ := json.Marshal(v) // in the order of the names
			r.sent = append(r.sent, fmt.Sprintf("%s %s", typ, doc))
		}
		r.at = append(r.at, len(body.Value))
		n, wait := len(r.at), r.wait
		r.mu.Unlock()
		if wait != nil {
			time.Sleep(wait(n))
		}
		return next(req)
	})
	o := *opts
	o.Documents.KeyField = "id"
	if o.Outage == nil {
		o.Outage = bufferedsender.FailSoon{}
	}
	if o.Logger == nil {
		o.Logger = mute
	}
	o.Handlers = events.Multi(ledgerHandlers[models.Document](&r.ledger), o.Handlers)
	var err error
	r.sender, err = bufferedsender.New(newClient(t, r.srv), &o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = r.sender.Close(ctx)
		s := r.sender.Stats()
		assert.Equal(t, s.Accepted, s.Completed+s.Failed+s.Unsent, "G1: %+v", s)
		assert.EqualValues(t, s.Accepted, len(r.ledger.endings("")), "G1: outcomes told")
		assert.Zero(t, s.PendingActions)
		assert.Zero(t, s.PendingBytes)
	})
	return r
}

// slowly makes each request take that long.
func (r *foldRig) slowly(f func(n int) time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait = f
}

func (r *foldRig) add(actions ...foldAction) {
	r.t.Helper()
	require.NoError(r.t, r.sender.IndexDocuments(within(r.t, time.Hour), actions...))
}

func (r *foldRig) flush() error { return r.sender.Flush(within(r.t, time.Hour)) }

func (r *foldRig) traveled() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.sent...)
}

// parse reads a document as a program would have made it.
func parse(text string) models.Document {
	var doc models.Document
	must(json.Unmarshal([]byte(text), &doc))
	return doc
}

func action(typ models.ActionType, text string, tag any) foldAction {
	return foldAction{Type: typ, Document: parse(text), Tag: tag}
}

const (
	upload        = models.ActionUpload
	merge         = models.ActionMerge
	mergeOrUpload = models.ActionMergeOrUpload
	remove        = models.ActionDelete
)
