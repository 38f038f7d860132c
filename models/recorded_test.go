package models_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// recorded returns the bodies in testdata/recorded with matching names. testdata/NOTICE.md has their sources.
func recorded(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "recorded", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	bodies := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		bodies[filepath.Base(p)] = b
	}
	return bodies
}

func recordedDefinitions(t testing.TB) map[string][]byte {
	t.Helper()
	bodies := recorded(t, "index_*.json")
	delete(bodies, "index_statistics.json")
	require.Len(t, bodies, 15)
	return bodies
}

// plain decodes JSON without null members and "@odata.context". Numbers keep their digits.
func plain(t testing.TB, b []byte) any {
	t.Helper()
	var v any
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&v), "%s", b)
	return prune(v)
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil || name == "@odata.context" {
				delete(v, name)
				continue
			}
			v[name] = prune(member)
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	case json.Number:
		f, _ := v.Float64() // 2 and 2.0 are the same number
		return f
	}
	return v
}

func TestRecordedDefinitionSurvivesReadingAndWriting(t *testing.T) {
	for name, body := range recordedDefinitions(t) {
		t.Run(name, func(t *testing.T) {
			var index models.SearchIndex
			require.NoError(t, json.Unmarshal(body, &index))
			got, err := json.Marshal(index)
			require.NoError(t, err)
			require.Equal(t, plain(t, body), plain(t, got))
			require.NotContains(t, string(got), "@odata.context")
		})
	}
}

func TestRecordedDefinitionsHoldNothingUnknown(t *testing.T) {
	for name, body := range recordedDefinitions(t) {
		t.Run(name, func(t *testing.T) {
			var index models.SearchIndex
			require.NoError(t, json.Unmarshal(body, &index))
			require.Empty(t, unknown(index))
		})
	}
}

func TestMembersOfANewerServiceSurviveOnEveryLevel(t *testing.T) {
	for name, body := range recordedDefinitions(t) {
		t.Run(name, func(t *testing.T) {
			n := 0
			newer, err := json.Marshal(withNewMembers(plain(t, body), &n))
			require.NoError(t, err)
			var index models.SearchIndex
			require.NoError(t, json.Unmarshal(newer, &index))
			require.Len(t, unknown(index), n, "one for each object")
			got, err := json.Marshal(index)
			require.NoError(t, err)
			require.Equal(t, plain(t, newer), plain(t, got))
		})
	}
}

// withNewMembers adds a member to every object of a definition and counts them in n. The weights of a scoring profile
// are a map from field to number, not an object.
func withNewMembers(v any, n *int) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "weights" {
				v[name] = withNewMembers(member, n)
			}
		}
		v["newerThanUs"] = map[string]any{"deep": []any{1.5, "<&>", nil}}
		*n++
	case []any:
		for i := range v {
			v[i] = withNewMembers(v[i], n)
		}
	}
	return v
}

func TestRecordedStatisticsAreRead(t *testing.T) {
	var index models.IndexStatistics
	require.NoError(t, json.Unmarshal(recorded(t, "index_statistics.json")["index_statistics.json"], &index))
	require.Zero(t, index.DocumentCount)
	require.Zero(t, index.StorageSize)

	var service models.ServiceStatistics
	require.NoError(t, json.Unmarshal(recorded(t, "service_statistics.json")["service_statistics.json"], &service))
	require.Nil(t, service.Counters.Documents.Quota)
	require.Equal(t, int64(3), *service.Counters.Indexes.Quota)
	require.Equal(t, int64(52428800), *service.Counters.StorageSize.Quota)
	require.Nil(t, service.Counters.VectorIndexSize)
	require.Equal(t, int64(1000), *service.Limits.MaxFieldsPerIndex)

	require.NoError(t, json.Unmarshal(recorded(t, "service_statistics_2024.json")["service_statistics_2024.json"], &service))
	require.NotNil(t, service.Counters.VectorIndexSize)
	require.Empty(t, unknown(service.Counters))
	require.Empty(t, unknown(service.Limits))
}

func TestRecordedBatchIsWhatWeWrite(t *testing.T) {
	for name, body := range recorded(t, "batch_*.json") {
		t.Run(name, func(t *testing.T) {
			var recorded struct {
				Value []models.Document `json:"value"`
			}
			require.NoError(t, json.Unmarshal(body, &recorded))
			require.NotEmpty(t, recorded.Value)
			var batch models.IndexDocumentsBatch[models.Document]
			for _, doc := range recorded.Value {
				action, err := doc.String("@search.action")
				require.NoError(t, err)
				delete(doc, "@search.action")
				batch.Actions = append(batch.Actions, models.IndexDocumentsAction[models.Document]{Type: models.ActionType(action), Document: doc})
			}
			got, err := batch.MarshalJSON()
			require.NoError(t, err)
			require.JSONEq(t, string(body), string(got))
			require.Equal(t, len(batch.Actions), strings.Count(string(got), `{"@search.action":`), "the action comes first")
		})
	}
}

func TestRecordedResultsAreRead(t *testing.T) {
	for name, body := range recorded(t, "results_*.json") {
		t.Run(name, func(t *testing.T) {
			var result models.IndexDocumentsResult
			require.NoError(t, json.Unmarshal(body, &result))
			require.NotEmpty(t, result.Results)
			for _, r := range result.Results {
				require.NotEmpty(t, r.Key)
				require.Equal(t, r.Succeeded, r.StatusCode < 300)
				require.Equal(t, r.Succeeded, r.ErrorMessage == "")
			}
		})
	}
	var result models.IndexDocumentsResult
	require.NoError(t, json.Unmarshal(recorded(t, "results_207.json")["results_207.json"], &result))
	require.Contains(t, result.Results, models.IndexingResult{Key: "nonExistingHotel", ErrorMessage: "Document not found.", StatusCode: 404})
}

func TestRecordedDocumentIsRead(t *testing.T) {
	var d models.Document
	require.NoError(t, json.Unmarshal(recorded(t, "document_hotel.json")["document_hotel.json"], &d))
	id, err := d.String("HotelId")
	require.NoError(t, err)
	require.Equal(t, "1", id)
	tags, err := d.Strings("Tags")
	require.NoError(t, err)
	require.NotEmpty(t, tags)
	renovated, err := d.Time("LastRenovationDate")
	require.NoError(t, err)
	require.Equal(t, "1970-01-18T00:00:00Z", renovated.Format("2006-01-02T15:04:05Z07:00"))
	at, err := d.GeographyPoint("Location")
	require.NoError(t, err)
	require.NotZero(t, at)
	address, err := d.Object("Address")
	require.NoError(t, err)
	city, err := address.String("City")
	require.NoError(t, err)
	require.NotEmpty(t, city)
	rooms, err := d.Objects("Rooms")
	require.NoError(t, err)
	require.NotEmpty(t, rooms)
	for _, r := range rooms {
		_, err := r.Float64("BaseRate")
		require.NoError(t, err)
		_, err = r.Int64("SleepsCount")
		require.NoError(t, err)
		_, err = r.Bool("SmokingAllowed")
		require.NoError(t, err)
	}
}

func TestRecordedBoundaryValuesAreRead(t *testing.T) {
	docs := recorded(t, "document_boundary_*.json")
	require.Len(t, docs, 4)
	for i, want := range []struct {
		rating int64
		at     models.GeographyPoint
		rate   string
	}{
		{-2147483648, models.GeographyPoint{Longitude: -180, Latitude: -90}, "5e-324"},
		{2147483647, models.GeographyPoint{Longitude: 180, Latitude: 90}, "1.7976931348623157e+308"},
	} {
		var d models.Document
		require.NoError(t, json.Unmarshal(docs["document_boundary_"+string(rune('1'+i))+".json"], &d))
		rating, err := d.Int64("Rating")
		require.NoError(t, err)
		require.Equal(t, want.rating, rating)
		at, err := d.GeographyPoint("Location")
		require.NoError(t, err)
		require.Equal(t, want.at, at)
		rooms, err := d.Objects("Rooms")
		require.NoError(t, err)
		rate, err := rooms[0].Float64("BaseRate")
		require.NoError(t, err)
		b, err := json.Marshal(rate)
		require.NoError(t, err)
		require.Equal(t, want.rate, string(b))
		for _, field := range []string{"HotelName", "nonesuch"} {
			_, err = d.String(field)
			require.ErrorIs(t, err, models.ErrNoField)
		}
	}
}
