package trial

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestFindTakesTheSmallestSettingThatIsAboutAsFastAsAny(t *testing.T) {
	for name, c := range map[string]struct {
		rate func(Setting) float64
		size int
		want Setting
	}{
		"a fixed latency, and room for 20 requests": {func(s Setting) float64 { return float64(s.Batch*min(s.InFlight, 20)) / (1 + float64(s.Batch)/100) }, 500, Setting{3000, 32}},
		"documents a second are limited":            {func(Setting) float64 { return 1000 }, 500, Setting{100, 1}},
		"one request at once is best":               {func(s Setting) float64 { return 1000 / float64(s.InFlight) }, 500, Setting{100, 1}},
		"each batch costs as much":                  {func(s Setting) float64 { return float64(s.Batch) }, 500, Setting{10_000, 1}},
		"documents of 40 kB":                        {func(s Setting) float64 { return float64(s.Batch * s.InFlight) }, 40_000, Setting{300, 8}},
	} {
		tried := map[Setting]bool{}
		runs, best, err := Find(c.size, func(s Setting) (Run, error) {
			assert.False(t, tried[s], "%s: %v is tried twice", name, s)
			tried[s] = true
			return Run{Setting: s, Rate: c.rate(s)}, nil
		})
		require.NoError(t, err)
		assert.Equal(t, c.want, best.Setting, name)
		assert.LessOrEqual(t, len(runs), Runs)
	}
	_, _, err := Find(500, func(s Setting) (Run, error) { return Run{Setting: s}, nil })
	assert.ErrorContains(t, err, "-for")
}

// The test sets every option that the literal names.
func TestOptionsAreThoseOfASender(t *testing.T) {
	for s, want := range map[Setting]bufferedsender.Limits{
		{1000, 4}:  {MaxBatchActions: 1000, MaxInFlight: 4},
		{3000, 32}: {MaxBatchActions: 3000, MaxInFlight: 32, MaxBufferedActions: 192_000, MaxBufferedBytes: 115_200_000},
	} {
		expression, err := parser.ParseExpr(Options(s, 600))
		require.NoError(t, err)
		var limits bufferedsender.Limits
		ast.Inspect(expression, func(n ast.Node) bool {
			if pair, is := n.(*ast.KeyValueExpr); is {
				name := pair.Key.(*ast.Ident).Name
				if number, is := pair.Value.(*ast.BasicLit); is {
					n, err := strconv.ParseInt(number.Value, 10, 64)
					require.NoError(t, err)
					reflect.ValueOf(&limits).Elem().FieldByName(name).SetInt(n)
				} else {
					_, has := reflect.TypeFor[bufferedsender.Options[struct{}]]().FieldByName(name)
					assert.True(t, has, name)
				}
			}
			return true
		})
		assert.Equal(t, want, limits)
	}
}

func TestGeneratedDocumentsFitAndAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(&searchtest.Options{Latency: 100 * time.Millisecond})
		defer srv.Close()
		types := []models.DataType{models.DataTypeString, models.DataTypeBoolean, models.DataTypeInt32, models.DataTypeInt64, models.DataTypeDouble, models.DataTypeDateTimeOffset, models.DataTypeGeographyPoint}
		fields := []models.SearchField{
			{Name: "id", Type: models.DataTypeString, Key: new(true)}, {Name: "inner", Type: models.DataTypeComplex, Fields: []models.SearchField{{Name: "x", Type: models.DataTypeString}}},
			{Name: "vector", Type: models.Collection(models.DataTypeSingle), Searchable: new(true), Dimensions: new(3), VectorSearchProfile: "p"},
		}
		for i, t := range types {
			fields = append(fields, models.SearchField{Name: "one" + strconv.Itoa(i), Type: t}, models.SearchField{Name: "many" + strconv.Itoa(i), Type: models.Collection(t)})
		}
		definition, err := json.Marshal(models.SearchIndex{Name: "bench", Fields: fields})
		require.NoError(t, err)
		require.NoError(t, srv.CreateIndex(strings.TrimSuffix(string(definition), "}")+`,"vectorSearch":{"algorithms":[{"name":"a","kind":"exhaustiveKnn"}],"profiles":[{"name":"p","algorithm":"a"}]}}`))
		some, err := Generate(fields)
		require.NoError(t, err)
		d, err := NewDocuments("id", some)
		require.NoError(t, err)
		client, err := search.NewClientWithKey(srv.URL(), "bench", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: &http.Client{Transport: srv.Transport()}}})
		require.NoError(t, err)

		r, err := Measure(t.Context(), client, d, Setting{100, 2}, 2*time.Second)
		require.NoError(t, err)
		assert.InDelta(t, 2000, r.Rate, 200, "two requests of 100 documents in 100 ms each")
		assert.Equal(t, 100*time.Millisecond, r.Reply)
		assert.LessOrEqual(t, r.Documents, srv.DocumentCount("bench"))

		d, err = NewDocuments("id", []json.RawMessage{json.RawMessage(`{"id":"7","one2":"text"}`)})
		require.NoError(t, err)
		_, err = Measure(t.Context(), client, d, Setting{100, 1}, 2*time.Second)
		assert.ErrorContains(t, err, "documents are refused")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = Measure(ctx, client, d, Setting{100, 1}, 2*time.Second)
		assert.ErrorIs(t, err, context.Canceled)
	})
}
