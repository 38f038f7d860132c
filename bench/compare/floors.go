package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
)

// poster posts batches sequentially over one connection.
type poster struct {
	client *http.Client
	url    string
	reply  bytes.Buffer // to the last batch
}

func newPoster(endpoint string, transport *http.Transport) *poster {
	return &poster{client: &http.Client{Transport: transport}, url: endpoint + "/indexes('" + corpus.IndexName + "')/docs/search.index?api-version=2025-09-01"}
}

func (p *poster) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	p.reply.Reset()
	if _, err := p.reply.ReadFrom(resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the sink answered %s: %.100s", resp.Status, p.reply.Bytes())
	}
	return nil
}

const (
	batchStart  = `{"value":[`
	batchEnd    = "]}"
	actionStart = `{"@search.action":"upload",`
)

// reply is the reply to a batch.
type reply struct {
	Value []struct {
		Key          string  `json:"key"`
		Status       bool    `json:"status"`
		ErrorMessage *string `json:"errorMessage"`
		StatusCode   int     `json:"statusCode"`
	} `json:"value"`
}

// sendMarshalled is floor A: a loop without a library and without concurrency.
func sendMarshalled[T any](ctx context.Context, w *corpus.Workload[T], t task) (failed int64, err error) {
	p := newPoster(t.Endpoint, http.DefaultTransport.(*http.Transport).Clone())
	body := append(make([]byte, 0, t.BatchBytes), batchStart...)
	flush := func() error {
		if err := p.post(ctx, append(body, batchEnd...)); err != nil {
			return err
		}
		var r reply
		if err := json.Unmarshal(p.reply.Bytes(), &r); err != nil {
			return err
		}
		for _, v := range r.Value {
			if !v.Status {
				failed++
			}
		}
		body = append(body[:0], batchStart...)
		return nil
	}
	doc := new(T)
	for i := range w.Len() {
		w.Document(i, doc)
		raw, err := json.Marshal(doc)
		if err != nil {
			return failed, err
		}
		if len(body) > len(batchStart) {
			if len(body)+len(actionStart)+len(raw)+len(batchEnd) > t.BatchBytes {
				if err := flush(); err != nil {
					return failed, err
				}
			} else {
				body = append(body, ',')
			}
		}
		body = append(append(body, actionStart...), raw[1:]...)
	}
	return failed, flush()
}

// sendEncoded is floor B, the upper limit of the rate: it encodes one batch before the clock starts and sends it
// repeatedly with other keys. It reads and discards the replies.
func sendEncoded[T any](ctx context.Context, w *corpus.Workload[T], t task) (int64, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.WriteBufferSize = 256 << 10
	p := newPoster(t.Endpoint, transport)
	b, err := encodeBatch(w, t.BatchBytes)
	if err != nil {
		return 0, err
	}
	t.start() // encoding the batch does not count
	for from := 0; from < w.Len(); {
		n := min(len(b.keys), w.Len()-from)
		for i := range n {
			copy(b.body[b.keys[i]:], w.Key(from+i))
		}
		body := b.body
		if n < len(b.keys) {
			body = append(body[:b.ends[n-1]:b.ends[n-1]], batchEnd...)
		}
		if err := p.post(ctx, body); err != nil {
			return 0, err
		}
		from += n
	}
	return 0, nil
}

// batch is a request body with replaceable keys.
type batch struct {
	body []byte
	keys []int // start of each key
	ends []int // end of each action
}

// encodeBatch encodes as many documents as fit into one request.
func encodeBatch[T any](w *corpus.Workload[T], maxBytes int) (*batch, error) {
	b := &batch{body: []byte(batchStart)}
	doc := new(T)
	for i := range w.Len() {
		w.Document(i, doc)
		raw, err := json.Marshal(doc)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			if len(b.body)+len(actionStart)+len(raw)+1+len(batchEnd) > maxBytes {
				break
			}
			b.body = append(b.body, ',')
		}
		at := bytes.Index(raw, []byte(`"id":"`))
		if at < 0 {
			return nil, io.ErrUnexpectedEOF
		}
		b.keys = append(b.keys, len(b.body)+len(actionStart)-1+at+len(`"id":"`))
		b.body = append(append(b.body, actionStart...), raw[1:]...)
		b.ends = append(b.ends, len(b.body))
	}
	b.body = append(b.body, batchEnd...)
	return b, nil
}
