package searchtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// javaRequest has the parts of a request that a recording of the Java SDK lacks; testdata/NOTICE.md explains the
// members.
type javaRequest struct {
	Headers    map[string]string `json:"headers"`
	Body       json.RawMessage   `json:"body"`
	Documents  string            `json:"documents"`
	Generate   int               `json:"generate"`
	Definition string            `json:"definition"`
}

// javaRequests are the reconstructed requests by recording and number.
var javaRequests = sync.OnceValues(func() (map[string]map[string]javaRequest, error) {
	out := make(map[string]map[string]javaRequest)
	for _, file := range []string{"java-2019-05-06.json", "java-queries-2019-05-06.json", "java-indexers-2019-05-06.json"} {
		data, err := os.ReadFile("testdata/requests/" + file)
		if err != nil {
			return nil, err
		}
		var requests map[string]map[string]javaRequest
		if err := json.Unmarshal(data, &requests); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for name, numbered := range requests {
			if out[name] == nil {
				out[name] = make(map[string]javaRequest)
			}
			for number, request := range numbered {
				if _, twice := out[name][number]; twice {
					return nil, fmt.Errorf("%s: the request %s of %s is in another file too", file, number, name)
				}
				out[name][number] = request
			}
		}
	}
	return out, nil
})

// bytes returns the body of the request.
func (j javaRequest) bytes(t *testing.T) []byte {
	t.Helper()
	switch {
	case j.Documents != "":
		var documents []json.RawMessage
		require.NoError(t, json.Unmarshal(testdata(t, "recordings/testdata/"+j.Documents), &documents))
		return uploads(t, documents)
	case j.Generate > 0:
		var documents []json.RawMessage
		for i := range j.Generate {
			documents = append(documents, json.RawMessage(fmt.Sprintf(`{"HotelId":"%d","HotelName":"Hotel %[1]d"}`, i+1)))
		}
		return uploads(t, documents)
	case j.Definition != "":
		return testdata(t, "requests/definitions/"+j.Definition+".json")
	}
	return j.Body
}

// uploads is a batch of documents without actions.
func uploads(t *testing.T, documents []json.RawMessage) []byte {
	t.Helper()
	out, err := json.Marshal(map[string]any{"value": documents})
	require.NoError(t, err)
	return out
}

// loadJava reads a recording of the Java SDK and adds the reconstructed bodies.
func loadJava(t *testing.T, file string) recording {
	t.Helper()
	var session struct {
		NetworkCallRecords []struct {
			Method   string
			URI      string `json:"Uri"`
			Headers  map[string]string
			Response map[string]string
		} `json:"networkCallRecords"`
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &session), file)
	requests, err := javaRequests()
	require.NoError(t, err)
	rec := recording{name: recordingName(file)}
	_, name, _ := strings.Cut(rec.name, "/")
	for n, call := range session.NetworkCallRecords {
		x := exchangeRecord{method: call.Method, url: call.URI, header: http.Header{}, replyHeader: http.Header{}}
		for header, value := range call.Headers {
			x.header.Set(header, value)
		}
		request := requests[name][strconv.Itoa(n)]
		for header, value := range request.Headers {
			x.header.Set(header, value)
		}
		x.body = request.bytes(t)
		for header, value := range call.Response {
			switch header {
			case "StatusCode":
				x.status, err = strconv.Atoi(value)
				require.NoError(t, err)
			case "Body":
				x.reply = value
			default:
				x.replyHeader.Set(header, value)
			}
		}
		if folder, _, _ := strings.Cut(rec.name, "/"); folder == "java-2019-05-06-indexers" && x.body == nil && (x.method == http.MethodPost || x.method == http.MethodPut) && x.reply != "" {
			x.body = definitionFrom(t, x.reply)
		}
		rec.exchanges = append(rec.exchanges, x)
	}
	return rec
}

// definitionFrom returns the definition in a reply without the service's additions: nulls, empty lists, and the start
// of a schedule without one.
func definitionFrom(t *testing.T, reply string) []byte {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(reply))
	dec.UseNumber()
	tree, err := shape.ReadJSON(dec, 0)
	require.NoError(t, err)
	return shape.AppendOpen(nil, given(tree), shape.RedactSecrets)
}

// given removes the service's additions from a value.
func given(value any) any {
	members, ok := value.(*shape.Members)
	if list, isList := value.([]any); isList {
		for i := range list {
			list[i] = given(list[i])
		}
		return list
	}
	if !ok {
		return value
	}
	out := &shape.Members{}
	for i, name := range members.Names {
		v := members.Values[i]
		list, isList := v.([]any)
		if v == nil || isList && len(list) == 0 || v == "0001-01-01T00:00:00Z" || name == "@odata.context" || name == "@odata.etag" {
			continue
		}
		out.Names, out.Values = append(out.Names, name), append(out.Values, given(v))
	}
	return out
}
