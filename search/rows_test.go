package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func rowsOf(t testing.TB, client *search.Client, opts *search.RowsOptions) *search.Rows {
	t.Helper()
	rows, err := search.NewRows(client, opts)
	require.NoError(t, err)
	return rows
}

// walked returns the keys of the rows between two keys.
func walked(ctx context.Context, rows *search.Rows, after, through string) (keys []string, err error) {
	for row, err := range rows.Scan(ctx, after, through) {
		if err != nil {
			return keys, err
		}
		keys = append(keys, row.Key)
	}
	return keys, nil
}

// lookedUp returns the keys of the existing rows.
func lookedUp(t testing.TB, rows *search.Rows, keys ...string) (there []string) {
	t.Helper()
	found, err := rows.Lookup(t.Context(), keys)
	require.NoError(t, err)
	for _, row := range found {
		there = append(there, row.Key)
	}
	return there
}

func TestRowsComeBehindOneKeyAndUpToAnother(t *testing.T) {
	_, client := emulatingEverything(t, numbered(30)...)
	rows := rowsOf(t, client, &search.RowsOptions{PageSize: 7, Filter: search.Ne("int", 12)})
	for _, c := range []struct {
		after, through string
		want           []int // first, last, without key 12
	}{
		{"", "", []int{0, 29}},
		{"00009", "", []int{10, 29}},
		{"", "00009", []int{0, 9}},
		{"00009", "00020", []int{10, 20}},
		{"00009x", "00020x", []int{10, 20}},
		{"00011", "00012", nil},
		{"00020", "00009", nil},
		{"00029", "", nil},
	} {
		var want []string
		if c.want != nil {
			for i := c.want[0]; i <= c.want[1]; i++ {
				if i != 12 {
					want = append(want, numberedID(i))
				}
			}
		}
		keys, err := walked(t.Context(), rows, c.after, c.through)
		require.NoError(t, err)
		assert.Equal(t, want, keys, "behind %q through %q", c.after, c.through)
	}
	assert.Equal(t, `index "everything"`, rows.String())
}

func TestALookupFindsTheKeysThatAreThereAndMeetTheFilterOnce(t *testing.T) {
	srv, client := emulatingEverything(t, numbered(1300)...)
	rows := rowsOf(t, client, &search.RowsOptions{KeyField: "id", Filter: search.Lt("int", 1250)})
	var asked, want []string
	for i := 1299; i >= 100; i-- {
		asked = append(asked, numberedID(i), numberedID(i), numberedID(i)+"x")
		if i < 1250 {
			want = append(want, numberedID(i))
		}
	}
	slices.Sort(want)
	assert.Equal(t, want, lookedUp(t, rows, asked...))
	assert.Equal(t, 5, searches(srv), "2400 keys in queries of 500")

	assert.Empty(t, lookedUp(t, rows))
	assert.Equal(t, 5, searches(srv), "no request for an empty list of keys")
	assert.Equal(t, []string{"00003"}, lookedUp(t, rows, "", "it's", "a,b", " 00001", "00003", `x") or true or ("`, "|", ","), "a key may be anything")
}

// Sent and received documents differ in field order, numbers, times and null members.
func TestADigestIsTheSameOfADocumentThatIsSentAndThatIsRead(t *testing.T) {
	fields := []string{"text", "texts", "flag", "int", "long", "double", "time", "point", "object", "objects"}
	_, client := emulatingEverything(t)
	rows := rowsOf(t, client, &search.RowsOptions{DigestOf: fields})
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "2024-05-06T07:08:09.1234567Z", "12", "true", "<&>"}))
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		doc := models.Document{"id": fmt.Sprint("k", n)}
		put := func(name string, value func() any) {
			switch rapid.IntRange(0, 9).Draw(t, "there is "+name) {
			case 0:
			case 1:
				doc[name] = nil
			default:
				doc[name] = value()
			}
		}
		object := func() any {
			o := map[string]any{}
			if rapid.Bool().Draw(t, "member") {
				o["text"] = texts.Draw(t, "text")
			}
			return o
		}
		put("text", func() any { return texts.Draw(t, "text") })
		put("texts", func() any { return rapid.SliceOfN(texts, 0, 3).Draw(t, "texts") })
		put("flag", func() any { return rapid.Bool().Draw(t, "flag") })
		put("int", func() any { return rapid.Int32().Draw(t, "int") })
		put("long", func() any { return rapid.Int64().Draw(t, "long") })
		put("double", func() any {
			if rapid.Bool().Draw(t, "whole") { // an integer that float64 can represent
				return rapid.Int64Range(-1<<53, 1<<53).Draw(t, "double")
			}
			return rapid.Float64().Draw(t, "double")
		})
		put("time", func() any {
			at := time.Unix(rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
			return at.In(time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "minutes"))).Format(time.RFC3339Nano)
		})
		put("point", func() any {
			return json.RawMessage(fmt.Sprintf(`{"coordinates":[%d.50,%d],"type":"Point"}`, rapid.IntRange(-179, 179).Draw(t, "lon"), rapid.IntRange(-90, 90).Draw(t, "lat")))
		})
		put("object", object)
		put("objects", func() any {
			return rapid.SliceOfN(rapid.Custom(func(*rapid.T) any { return object() }), 0, 3).Draw(t, "objects")
		})
		_, err := search.UploadDocuments(context.Background(), client, []models.Document{doc}, &search.IndexDocumentsOptions{KeyField: "id"})
		require.NoError(t, err)
		sent, err := json.Marshal(doc)
		require.NoError(t, err)
		want, err := models.DigestOf(sent, fields...)
		require.NoError(t, err)
		found, err := rows.Lookup(context.Background(), []string{fmt.Sprint("k", n)})
		require.NoError(t, err)
		require.Equal(t, []models.Row{{Key: fmt.Sprint("k", n), Digest: want}}, found, "%s", sent)
	})
}

func TestRowsHaveTheVersionAndTheDigestOfFields(t *testing.T) {
	_, client := emulatingEverything(t,
		models.Document{"id": "a", "long": int64(math.MaxInt64), "int": -7, "time": "2024-05-06T07:08:09.123Z", "plain": "d1"},
		models.Document{"id": "b"},
		models.Document{"id": "c", "time": "0001-01-01T00:00:00Z"},
		models.Document{"id": "d", "time": "9999-12-31T00:00:00Z"},
		models.Document{"id": "e", "time": "1960-01-01T00:00:00Z"},
	)
	read := func(opts search.RowsOptions) map[string]models.Row {
		all := map[string]models.Row{}
		rows := rowsOf(t, client, &opts)
		for row, err := range rows.Scan(t.Context(), "", "") {
			require.NoError(t, err)
			all[row.Key] = row
		}
		again, err := rows.Lookup(t.Context(), []string{"a", "b", "c", "d", "e"})
		require.NoError(t, err)
		for _, row := range again {
			assert.Equal(t, all[row.Key], row)
		}
		assert.Len(t, again, len(all))
		return all
	}
	assert.Equal(t, models.Row{Key: "a"}, read(search.RowsOptions{})["a"])
	assert.Equal(t, models.Row{Key: "a", Version: math.MaxInt64, Digest: "d1"}, read(search.RowsOptions{Version: "long", Digest: "plain"})["a"])
	assert.Equal(t, models.Row{Key: "b"}, read(search.RowsOptions{Version: "long", Digest: "plain"})["b"])
	assert.EqualValues(t, -7, read(search.RowsOptions{Version: "int"})["a"].Version)
	byTime := read(search.RowsOptions{Version: "time", DigestOf: []string{"plain"}})
	assert.Equal(t, time.Date(2024, 5, 6, 7, 8, 9, 123e6, time.UTC).UnixMilli(), byTime["a"].Version)
	assert.NotEmpty(t, byTime["a"].Digest)
	assert.Zero(t, byTime["b"].Version)
	assert.Equal(t, time.Time{}.UnixMilli(), byTime["c"].Version, "the zero time of Go, which many documents have")
	assert.Greater(t, byTime["d"].Version, byTime["a"].Version)
	assert.Negative(t, byTime["e"].Version)
}

func TestAFieldThatIsNoVersionOrDigestIsAnError(t *testing.T) {
	_, client := emulatingEverything(t, models.Document{"id": "a", "text": "x", "double": 1.5, "int": 3})
	for _, c := range []struct {
		opts search.RowsOptions
		says string
	}{
		{search.RowsOptions{Version: "text"}, `the field "text" of the document with the key "a": a version must be a whole number or a time`},
		{search.RowsOptions{Version: "double"}, "must be a whole number or a time"},
		{search.RowsOptions{Digest: "int"}, `the digest field "int" of the document with the key "a" is not a string`},
		{search.RowsOptions{Version: "missing"}, `of RowsOptions: Version "missing"`},
		{search.RowsOptions{Filter: search.Eq("nobody", 1)}, "Filter \"nobody eq 1\""},
	} {
		rows := rowsOf(t, client, &c.opts)
		_, err := walked(t.Context(), rows, "", "")
		require.ErrorContains(t, err, c.says)
		_, err = rows.Lookup(t.Context(), []string{"a"})
		require.ErrorContains(t, err, c.says)
	}
}

func TestEveryProblemOfRowsIsNamedBeforeARequest(t *testing.T) {
	srv, client := emulatingEverything(t)
	before := len(srv.Requests())
	_, err := search.NewRows(client, &search.RowsOptions{
		Version: "object/int", Digest: "plain", DigestOf: []string{"*", ""}, KeyField: "no field", PageSize: 1001, Filter: search.Eq("a b", 1),
	})
	for _, problem := range []string{
		`"object/int" is not the name of a field at the top level`, `"*" is not the name of a field at the top level`, "use one of them",
		"KeyField", "PageSize", "Filter", "DigestOf has an empty name",
	} {
		require.ErrorContains(t, err, problem)
	}
	assert.Len(t, srv.Requests(), before)
}

func TestTheOptionsOfRowsMayChangeAfterwards(t *testing.T) {
	_, client := emulatingEverything(t, models.Document{"id": "a", "text": "x"})
	opts := &search.RowsOptions{DigestOf: []string{"text"}}
	rows := rowsOf(t, client, opts)
	opts.DigestOf[0] = "int"
	found, err := rows.Lookup(t.Context(), []string{"a"})
	require.NoError(t, err)
	want, err := models.DigestOf([]byte(`{"text":"x"}`))
	require.NoError(t, err)
	assert.Equal(t, want, found[0].Digest)
}

// definitionReads returns the number of requests for the definition.
func definitionReads(srv *searchtest.Server) (n int) {
	for _, r := range srv.Requests() {
		if r.Operation == searchtest.OpGetIndex {
			n++
		}
	}
	return n
}

func TestRowsReadTheDefinitionForEachCall(t *testing.T) {
	srv, client := emulatingEverything(t, numbered(3)...)
	rows := rowsOf(t, client, nil)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpGetIndex, Status: http.StatusForbidden}}})
	_, err := rows.Lookup(t.Context(), []string{"00001"})
	require.Error(t, err)
	_, err = walked(t.Context(), rows, "", "")
	require.Error(t, err)
	srv.SetFaults(nil)
	before := definitionReads(srv)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if i%2 == 0 {
				keys, err := walked(t.Context(), rows, "", "")
				assert.NoError(t, err, "a failed read is repeated")
				assert.Len(t, keys, 3)
				return
			}
			assert.Equal(t, []string{"00001"}, lookedUp(t, rows, "00001"))
		})
	}
	all.Wait()
	assert.Equal(t, 8, definitionReads(srv)-before)
}

func TestWhoWaitsForTheDefinitionWaitsForItsOwnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, client := emulatingEverything(t, numbered(3)...)
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpGetIndex, Delay: searchtest.Duration(time.Hour)}}})
		rows := rowsOf(t, client, nil)
		first := make(chan error)
		go func() {
			_, err := rows.Lookup(t.Context(), []string{"00001"})
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := rows.Lookup(ctx, []string{"00001"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
		require.NoError(t, <-first)
	})
}

func TestAnErrorIsTheLastOfTheRows(t *testing.T) {
	srv, client := emulatingEverything(t, numbered(20)...)
	rows := rowsOf(t, client, &search.RowsOptions{KeyField: "id", PageSize: 5})
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpSearch, After: 2, Status: http.StatusForbidden}}})
	keys, err := walked(t.Context(), rows, "", "")
	require.Error(t, err)
	assert.Len(t, keys, 10)
	_, err = rows.Lookup(t.Context(), []string{"00001"})
	require.Error(t, err)
	srv.SetFaults(nil)
	for row, err := range rows.Scan(t.Context(), "", "") {
		require.NoError(t, err)
		assert.Equal(t, numberedID(0), row.Key)
		break // the caller stops early
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = walked(ctx, rows, "", "")
	require.ErrorIs(t, err, context.Canceled)
}
