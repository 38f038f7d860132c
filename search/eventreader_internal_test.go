package search

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/knowledge"
)

type event struct{ name, data string }

// naiveEvents parses a complete text by the steps of the HTML standard.
func naiveEvents(text string) (list []event) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	var name, data string
	has := false
	for _, line := range lines[:len(lines)-1] { // the last line is not terminated
		switch {
		case line == "" && has:
			if name == "" {
				name = "message"
			}
			list = append(list, event{name, strings.TrimSuffix(data, "\n")})
			name, data, has = "", "", false
		case line == "":
			name = ""
		case strings.HasPrefix(line, "data:"):
			data, has = data+strings.TrimPrefix(line[len("data:"):], " ")+"\n", true
		case line == "data":
			data, has = data+"\n", true
		case strings.HasPrefix(line, "event:"):
			name = strings.TrimPrefix(line[len("event:"):], " ")
		case line == "event":
			name = ""
		}
	}
	return list
}

// pieces is a Reader that splits the text at arbitrary positions.
type pieces struct {
	text string
	cuts []byte
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := 1
	if len(p.cuts) > 0 {
		n += int(p.cuts[0]) % 7
		p.cuts = p.cuts[1:]
	}
	n = copy(b, p.text[:min(n, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

// Wherever the network splits a stream, events are neither lost, joined nor invented. A stream that just ends is an
// error.
func FuzzEvents(f *testing.F) {
	const text = "\ufeff: hello\nevent: retrieval.started\r\ndata: {\ndata:}\r\n\r\nid: 7\rretry:1\rdata\r\revent: x\n\nevent:error\ndata: {\"error\":{}}\n\n: ping\n\ndata: cut"
	f.Add(text, []byte{})
	f.Add(text, []byte{0, 3, 1, 6, 2})
	f.Add("data:\r", []byte{})
	f.Add("event: response.completed\ndata: {\"response\":[]}\n\n\ufeffdata: x\n\n", []byte("cut"))
	f.Fuzz(func(t *testing.T, text string, cuts []byte) {
		reader := newEventReader(&pieces{text, cuts})
		var list []event
		for {
			name, data, err := reader.next()
			if err != nil {
				require.ErrorIs(t, err, errCutStream)
				break
			}
			list = append(list, event{name, data})
			if e, _, err := knowledge.DecodeEvent(name, data); err == nil {
				require.NotNil(t, e)
			}
		}
		require.Equal(t, naiveEvents(text), list)
	})
}

// For any input a stream ends with exactly one Completed or error.
func FuzzRetrieveStream(f *testing.F) {
	const completed, failed = "event: response.completed\ndata: {\"response\":[]}\n\n", "event: error\ndata: {\"error\":{\"message\":\"m\"}}\n\n"
	for _, text := range []string{"", "data: {}\n\n", completed, failed, completed + completed, "event: error\ndata: null\n\n", "event: response.completed\ndata: null\n\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &KnowledgeBaseClient{name: "x"}
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: httptest.NewRequest(http.MethodPost, "/", nil)}
		ends := 0
		_ = c.events(t.Context(), c.call("RetrieveStream"), resp, nil, func(event knowledge.Event, err error) bool {
			require.Zero(t, ends, "the reader continues after its end")
			if _, completed := event.(knowledge.Completed); completed || err != nil {
				ends++
			}
			return true
		})
		require.Equal(t, 1, ends)
	})
}
