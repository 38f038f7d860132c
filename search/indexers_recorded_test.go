package search_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
)

// exchange is a line of testdata/recorded/indexers.jsonl.
type exchange struct {
	From, Method, Path, Body string
	Call, Status             int
}

func recordedExchanges(t *testing.T) (list []exchange) {
	t.Helper()
	data, err := os.ReadFile("testdata/recorded/indexers.jsonl")
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var x exchange
		require.NoError(t, json.Unmarshal(lines.Bytes(), &x))
		list = append(list, x)
	}
	require.Equal(t, 144, len(list))
	return list
}

// Each recorded reply is read by the client, encoded again and compared.
func TestRecordedRepliesComeBackEqual(t *testing.T) {
	for _, x := range recordedExchanges(t) {
		client := newIndexerClient(t, reply(x.Status, x.Body))
		kind, rest, _ := strings.Cut(strings.TrimPrefix(x.Path, "/"), "(")
		_, part, _ := strings.Cut(rest, "/")
		got, err := replay(t.Context(), client, kind, part, x)
		if x.Status >= 400 {
			var refused *search.Error
			require.ErrorAs(t, err, &refused, "%s call %d", x.From, x.Call)
			assert.Equal(t, x.Status, refused.StatusCode)
			assert.NotEmpty(t, refused.Message)
			continue
		}
		require.NoError(t, err, "%s call %d", x.From, x.Call)
		b, err := json.Marshal(got)
		require.NoError(t, err)
		want := prunedReply(t, []byte(x.Body))
		if list, is := got.(bodies); is {
			b, err = json.Marshal(map[string]any{"value": list})
			require.NoError(t, err)
		}
		assert.Equal(t, want, prunedReply(t, b), "%s call %d", x.From, x.Call)
	}
}

type bodies []any

// replay makes the call of an exchange and returns its result.
func replay(ctx context.Context, c *search.IndexerClient, kind, part string, x exchange) (any, error) {
	name := nameIn(x.Body)
	switch {
	case strings.Contains(x.Body, kind+"(name)"):
		names, err := collected(map[string]func(context.Context) iter.Seq2[string, error]{
			"datasources": func(ctx context.Context) iter.Seq2[string, error] { return c.ListDataSourceNames(ctx, nil) },
			"indexers":    func(ctx context.Context) iter.Seq2[string, error] { return c.ListIndexerNames(ctx, nil) },
			"skillsets":   func(ctx context.Context) iter.Seq2[string, error] { return c.ListSkillsetNames(ctx, nil) },
		}[kind](ctx))
		for i, name := range names {
			names[i] = map[string]any{"name": name}
		}
		return names, err
	case part == "search.status":
		return c.GetIndexerStatus(ctx, name, nil)
	case x.Method == "DELETE":
		return nil, map[string]func() error{
			"datasources": func() error { return c.DeleteDataSource(ctx, name, nil) },
			"indexers":    func() error { return c.DeleteIndexer(ctx, name, nil) },
			"skillsets":   func() error { return c.DeleteSkillset(ctx, name, nil) },
		}[kind]()
	}
	switch kind {
	case "datasources":
		switch {
		case x.Method == "POST":
			return c.CreateDataSource(ctx, indexers.DataSource{Name: name}, nil)
		case x.Method == "PUT":
			return c.CreateOrUpdateDataSource(ctx, indexers.DataSource{Name: name}, nil)
		case strings.Contains(x.Path, "("):
			return c.GetDataSource(ctx, name, nil)
		}
		return collected(c.ListDataSources(ctx, nil))
	case "indexers":
		switch {
		case x.Method == "POST":
			return c.CreateIndexer(ctx, indexers.Indexer{Name: name}, nil)
		case x.Method == "PUT":
			return c.CreateOrUpdateIndexer(ctx, indexers.Indexer{Name: name}, nil)
		case strings.Contains(x.Path, "("):
			return c.GetIndexer(ctx, name, nil)
		}
		return collected(c.ListIndexers(ctx, nil))
	}
	switch {
	case x.Method == "POST":
		return c.CreateSkillset(ctx, skills.Skillset{Name: name}, nil)
	case x.Method == "PUT":
		return c.CreateOrUpdateSkillset(ctx, skills.Skillset{Name: name}, nil)
	case strings.Contains(x.Path, "("):
		return c.GetSkillset(ctx, name, nil)
	}
	return collected(c.ListSkillsets(ctx, nil))
}

// nameIn returns the name in a reply, or "x".
func nameIn(body string) string {
	var named struct{ Name string }
	if json.Unmarshal([]byte(body), &named) != nil || named.Name == "" {
		return "x"
	}
	return named.Name
}

func collected[T any](all iter.Seq2[T, error]) (bodies, error) {
	list := bodies{}
	for x, err := range all {
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// prunedReply decodes JSON without nulls and "@odata.context". Times are not normalized.
func prunedReply(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(b, &v))
	return pruned(v)
}

func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil || name == "@odata.context" {
				delete(v, name)
				continue
			}
			v[name] = pruned(member)
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.UTC()
		}
	}
	return v
}

func TestSkillsThatWereRecordedAreKnown(t *testing.T) {
	for _, x := range recordedExchanges(t) {
		if x.Method != "POST" || x.Path != "/skillsets" || x.Status != 201 {
			continue
		}
		var set skills.Skillset
		require.NoError(t, json.Unmarshal([]byte(x.Body), &set))
		for _, s := range set.Skills {
			if u, unknown := s.(skills.UnknownSkill); unknown {
				assert.Contains(t, []string{
					"#Microsoft.Skills.Text.EntityRecognitionSkill", "#Microsoft.Skills.Text.SentimentSkill", "#Microsoft.Skills.Text.NamedEntityRecognitionSkill",
				}, u.Type, "refused since 2023")
			}
		}
	}
}
