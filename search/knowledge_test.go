package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const streamVersion = "2026-10-01"

func newBaseClient(t *testing.T, w *wire) *search.KnowledgeBaseClient {
	t.Helper()
	opts := options(w)
	opts.APIVersion = streamVersion
	client, err := search.NewKnowledgeBaseClientWithKey(testEndpoint, "kb", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	return client
}

func TestRetrieveReturnsTypedActivitiesAndReferences(t *testing.T) {
	const answer = `{"@odata.context":"x","response":[{"role":"assistant","content":[{"type":"text","text":"[]"},{"type":"audio","x":1}]}],
		"activity":[{"type":"searchIndex","id":0,"elapsedMs":5,"knowledgeSourceName":"s","count":2,"searchIndexArguments":{"search":"wifi","filter":"a eq 1"}},
			{"type":"agenticReasoning","id":1,"reasoningTokens":7,"retrievalReasoningEffort":{"kind":"minimal"}},{"type":"telepathy","id":2,"error":{"code":"c","message":"m"}}],
		"references":[{"type":"searchIndex","id":"0","activitySource":0,"docKey":"k","rerankerScore":2.5,"sourceData":{"a":1}},{"type":"dream","id":"1","activitySource":2}]}`
	w := reply(206, answer)
	got, err := newBaseClient(t, w).Retrieve(search.WithUserToken(t.Context(), "user"), knowledge.Request{
		Intents: []knowledge.Intent{knowledge.SemanticIntent{Search: "wifi"}},
		Sources: []knowledge.SourceOptions{{KnowledgeSourceName: "s", Kind: knowledge.SourceKindSearchIndex, FilterAddOn: "a eq 1"}},
	}, nil)
	require.NoError(t, err)
	assert.True(t, got.Partial)
	assert.JSONEq(t, `{"intents":[{"type":"semantic","search":"wifi"}],"knowledgeSourceParams":[{"knowledgeSourceName":"s","kind":"searchIndex","filterAddOn":"a eq 1"}]}`, w.bodies[0])
	assert.Equal(t, "user", w.requests[0].Header.Get("X-Ms-Query-Source-Authorization"))
	require.IsType(t, knowledge.SearchIndexActivity{}, got.Activity[0])
	assert.Equal(t, "a eq 1", got.Activity[0].(knowledge.SearchIndexActivity).Arguments.Filter)
	assert.Equal(t, "telepathy", got.Activity[2].(knowledge.UnknownActivity).Type)
	assert.Equal(t, "m", got.Activity[2].Common().Error.Message)
	assert.Equal(t, "k", got.References[0].(knowledge.SearchIndexReference).DocKey)
	assert.Equal(t, 2, got.References[1].Common().ActivitySource)
	b, err := json.Marshal(got.Response)
	require.NoError(t, err)
	assert.Equal(t, prunedReply(t, []byte(answer)), prunedReply(t, b))
}

func TestErrorsKeepTheTokenOfTheUser(t *testing.T) {
	_, err := newBaseClient(t, reply(403, `{"error":{"code":"","message":"no"}}`)).Retrieve(search.WithUserToken(t.Context(), "S3CRET"), knowledge.Request{}, nil)
	var response *azcore.ResponseError
	require.ErrorAs(t, err, &response)
	assert.Equal(t, "REDACTED", response.RawResponse.Request.Header.Get("X-Ms-Query-Source-Authorization"))
	assert.ErrorContains(t, err, "a query key or an admin key")
}

const events = `event: retrieval.started
data: {"requestId":"r","knowledgeBaseName":"kb","outputMode":"answerSynthesis","reasoningEffort":{"kind":"low"}}

: still there
event: activity.started
data: {"id":0,"type":"searchIndex","startedAt":"2026-10-01T00:00:00Z"}

event: activity.completed
data: {"type":"searchIndex",
data: "id":0,"count":1}

event: weather
id: 7
data: rain

event: nothing

event: answer.completed
data: {"messageIndex":0,"message":{"role":"assistant","content":[{"type":"text","text":"yes"}]}}

event: references.completed
data: [{"type":"web","id":"0","activitySource":0,"url":"https://x"}]

`

const (
	completed = "event: response.completed\ndata: {\"statusCode\":200,\"response\":{\"response\":[]}}\n\n"
	failed    = "event: error\ndata: {\"error\":{\"code\":\"TooBusy\",\"message\":\"try later\"}}\n\n"
)

func streamed(t *testing.T, body string) (list []knowledge.Event, err error) {
	t.Helper()
	w := &wire{answer: func(int, *http.Request) (*http.Response, error) {
		return response(200, body, "Content-Type", "text/event-stream"), nil
	}}
	for event, e := range newBaseClient(t, w).RetrieveStream(t.Context(), knowledge.Request{}, nil) {
		if event != nil {
			list = append(list, event)
		}
		err = e
	}
	assert.Equal(t, "text/event-stream", w.requests[0].Header.Get("Accept"))
	return list, err
}

func TestAStreamIsReadAsTheStandardSays(t *testing.T) {
	text := events + completed + "event: never\ndata: read\n\n"
	for name, body := range map[string]string{
		"LF": text, "CR LF": strings.ReplaceAll(text, "\n", "\r\n"), "CR": strings.ReplaceAll(text, "\n", "\r"), "BOM": "\ufeff" + text,
		"no blanks": strings.ReplaceAll(text, ": ", ":"),
	} {
		list, err := streamed(t, body)
		require.NoError(t, err, name)
		require.Len(t, list, 7, name)
		assert.Equal(t, "r", list[0].(knowledge.Started).RequestID)
		assert.Equal(t, "searchIndex", list[1].(knowledge.ActivityStarted).Type)
		assert.Equal(t, 1, *list[2].(knowledge.ActivityCompleted).Activity.(knowledge.SearchIndexActivity).Count)
		assert.Equal(t, knowledge.UnknownEvent{Name: "weather", Data: "rain"}, list[3])
		assert.Equal(t, "yes", list[4].(knowledge.AnswerCompleted).Message.Content[0].(knowledge.TextContent).Text)
		assert.Equal(t, "https://x", list[5].(knowledge.ReferencesCompleted).References[0].(knowledge.WebReference).URL)
		assert.Equal(t, 200, list[6].(knowledge.Completed).StatusCode)
	}
}

func TestAStreamWithoutItsLastEventIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		body, want string
		events     int
	}{
		"nothing":         {"", "the stream ended before its last event", 0},
		"breaks off":      {events, "the stream ended before its last event", 6},
		"last one is cut": {events + strings.TrimSuffix(completed, "\n"), "the stream ended before its last event", 6},
		"a null":          {"event: activity.completed\ndata: null\n\n" + completed, "null instead of an object", 0},
		"a list of null":  {"event: references.completed\ndata: [null]\n\n" + completed, "null in a list of knowledge.Reference", 0},
		"not JSON":        {"event: retrieval.started\ndata: {\n\n" + completed, `event "retrieval.started"`, 0},
	} {
		list, err := streamed(t, c.body)
		require.ErrorIs(t, err, models.ErrMalformedReply, name)
		require.ErrorContains(t, err, c.want, name)
		assert.Len(t, list, c.events, name)
	}
	list, err := streamed(t, events+failed)
	require.ErrorContains(t, err, `Retrieve`)
	require.ErrorContains(t, err, "the service ended the stream: try later (TooBusy")
	assert.Equal(t, "TooBusy", list[6].(knowledge.Failed).Error.Code)
}

func TestAPartialAnswerPrintsThatItIs(t *testing.T) {
	answer := search.Retrieved{Partial: true}
	assert.Equal(t, "partial: {}", fmt.Sprint(answer))
	assert.Equal(t, "{}", fmt.Sprint(search.Retrieved{}))
	assert.Equal(t, "[partial=true response={}]", answer.LogValue().String())
}

func TestARefusalBeforeTheStreamIsAnError(t *testing.T) {
	for _, err := range newBaseClient(t, reply(404, `{"error":{"code":"","message":"No such base."}}`)).RetrieveStream(t.Context(), knowledge.Request{}, nil) {
		require.ErrorIs(t, err, search.ErrKnowledgeBaseNotFound)
	}
}

func TestTheTimeLimitOfATryIsNotOneOfAStream(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, events)
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(300 * time.Millisecond): // longer than the limit
		}
		_, _ = io.WriteString(w, completed)
	}))
	defer server.Close()
	opts := &search.ClientOptions{APIVersion: streamVersion}
	opts.Retry.TryTimeout = 100 * time.Millisecond
	client, err := search.NewKnowledgeBaseClientWithKey(server.URL, "kb", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	for _, err := range client.RetrieveStream(t.Context(), knowledge.Request{}, nil) {
		require.NoError(t, err)
	}
}

func TestAFileIsUploadedOnce(t *testing.T) {
	w := reply(503, `{"error":{"code":"","message":"try later"}}`)
	client := newIndexClient(t, w)
	_, err := client.UploadKnowledgeSourceFile(t.Context(), "src", knowledge.FileMetadata{FileName: "a.txt"}, strings.NewReader("text"), nil)
	require.Error(t, err)
	assert.Len(t, w.requests, 1, "a retry could add a second file")
}

func TestCancellingEndsAStreamAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, events)
		w.(http.Flusher).Flush()
		<-r.Context().Done() // the service sends nothing more
	}))
	defer server.Close()
	client, err := search.NewKnowledgeBaseClientWithKey(server.URL, "kb", azcore.NewKeyCredential(testKey), &search.ClientOptions{APIVersion: streamVersion})
	require.NoError(t, err)
	cause := errors.New("the user went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	n := 0
	for _, err = range client.RetrieveStream(ctx, knowledge.Request{}, nil) {
		if n++; n == 6 {
			cancel(cause)
		}
	}
	require.ErrorIs(t, err, cause)
	assert.Equal(t, 7, n)
}

func TestAFileIsSentWithItsMetadata(t *testing.T) {
	w := reply(201, `{"fileId":"f1","fileName":"a.txt","fileSizeBytes":4,"metadata":{"team":"x"},"prefix":null}`)
	opts := options(w)
	opts.APIVersion = streamVersion
	client, err := search.NewIndexClientWithKey(testEndpoint, azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	file, err := client.UploadKnowledgeSourceFile(t.Context(), "src", knowledge.FileMetadata{FileName: "a.txt", Metadata: map[string]string{"team": "x"}}, strings.NewReader("text"), nil)
	require.NoError(t, err)
	assert.Equal(t, "f1", file.FileID)
	kind, parameters, err := mime.ParseMediaType(w.requests[0].Header.Get("Content-Type"))
	require.NoError(t, err)
	assert.Equal(t, "multipart/form-data", kind)
	form, err := multipart.NewReader(strings.NewReader(w.bodies[0]), parameters["boundary"]).ReadForm(1 << 20)
	require.NoError(t, err)
	assert.JSONEq(t, `{"fileName":"a.txt","metadata":{"team":"x"}}`, form.Value["metadata"][0])
	content, err := form.File["content"][0].Open()
	require.NoError(t, err)
	b, err := io.ReadAll(content)
	require.NoError(t, err)
	assert.Equal(t, "text", string(b))
	opts.APIVersion = "2026-04-01"
	old, err := search.NewIndexClientWithKey(testEndpoint, azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	_, err = old.UploadKnowledgeSourceFile(t.Context(), "src", knowledge.FileMetadata{}, strings.NewReader(""), nil)
	require.ErrorContains(t, err, "2026-10-01 or newer")
	require.ErrorContains(t, client.DeleteKnowledgeSourceFile(t.Context(), "src", "", nil), "the id of the file is empty")
	assert.Len(t, w.requests, 1)
}

// An empty string would replace the secret.
func TestSecretsThatWereNotReturnedAreWrittenAsNull(t *testing.T) {
	for _, source := range []string{
		`{"name":"s","kind":"azureBlob","azureBlobParameters":{"connectionString":null,"containerName":"c"}}`,
		`{"name":"s","kind":"indexedSharePoint","indexedSharePointParameters":{"connectionString":null,"containerName":"useQuery"}}`,
		`{"name":"s","kind":"indexedSql","indexedSqlParameters":{"connectionString":null,"tableOrView":"t"}}`,
	} {
		w := reply(200, source)
		client := newIndexClient(t, w)
		got, err := client.GetKnowledgeSource(t.Context(), "s", nil)
		require.NoError(t, err)
		_, err = client.CreateOrUpdateKnowledgeSource(t.Context(), got, nil)
		require.NoError(t, err)
		assert.JSONEq(t, source, w.bodies[1])
	}
	const set = `{"name":"s","skills":[],"cognitiveServices":{"@odata.type":"#Microsoft.Azure.Search.CognitiveServicesByKey","key":null},"knowledgeStore":{"storageConnectionString":null,"projections":[]}}`
	w := reply(200, set)
	client := newIndexerClient(t, w)
	got, err := client.GetSkillset(t.Context(), "s", nil)
	require.NoError(t, err)
	_, err = client.CreateOrUpdateSkillset(t.Context(), got, nil)
	require.NoError(t, err)
	assert.JSONEq(t, set, w.bodies[1])
}

func TestSourcesOfAllKindsComeBackEqual(t *testing.T) {
	for _, source := range []string{
		`{"name":"s","kind":"searchIndex","searchIndexParameters":{"searchIndexName":"i","sourceDataFields":[{"name":"a"}],"baseFilter":"x eq 1"}}`,
		`{"name":"s","kind":"azureBlob","azureBlobParameters":{"connectionString":"<redacted>","containerName":"c","createdResources":{"index":"i"},"ingestionParameters":{"embeddingModel":{"kind":"azureOpenAI","azureOpenAIParameters":{"modelName":"m"}},"ingestionSchedule":{"interval":"P1D"}}}}`,
		`{"name":"s","kind":"web"}`,
		`{"name":"s","kind":"file","fileParameters":{"new":[1]},"corsOptions":{"allowedOrigins":["*"]}}`,
		`{"name":"s","kind":"mcpServer","mcpServerParameters":{"serverURL":"u"},"@odata.etag":"\"1\""}`,
	} {
		got, err := newIndexClient(t, reply(200, source)).GetKnowledgeSource(t.Context(), "s", nil)
		require.NoError(t, err)
		b, err := json.Marshal(got)
		require.NoError(t, err)
		assert.Equal(t, prunedReply(t, []byte(source)), prunedReply(t, b))
	}
}

func TestRetrieveFromAKnowledgeBaseThatDoesNotExist(t *testing.T) {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	opts := &search.ClientOptions{}
	opts.Transport = srv
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	require.NoError(t, err)
	_, err = indexes.KnowledgeBaseClient("")
	require.ErrorContains(t, err, "search: new knowledge base client: ")
	bases, err := indexes.KnowledgeBaseClient("none")
	require.NoError(t, err)
	_, err = bases.Retrieve(t.Context(), knowledge.Request{Intents: []knowledge.Intent{knowledge.SemanticIntent{Search: "x"}}}, nil)
	var status *search.Error
	require.ErrorAs(t, err, &status)
	assert.Equal(t, http.StatusNotFound, status.StatusCode)
}
