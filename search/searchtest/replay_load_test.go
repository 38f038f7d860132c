package searchtest

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// loadRecordings reads all recordings in name order.
func loadRecordings(t *testing.T) []recording {
	t.Helper()
	var out []recording
	for _, folder := range []string{"java-2019-05-06", "java-2019-05-06-indexers"} {
		for _, file := range files(t, "testdata/recordings/"+folder+"/*.json") {
			out = append(out, loadJava(t, file))
		}
	}
	for _, folder := range []string{"python-2020-06-30", "python-2020-06-30-indexers"} {
		for _, file := range files(t, "testdata/recordings/"+folder+"/*.yaml") {
			out = append(out, loadPython(t, file))
		}
	}
	return out
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	slices.Sort(list)
	return list
}

// recordingName is the folder and file name without extension.
func recordingName(file string) string {
	return filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// loadPython reads a recording of vcr.py, which is complete.
func loadPython(t *testing.T, file string) recording {
	t.Helper()
	var cassette struct {
		Interactions []struct {
			Request struct {
				Body    string
				Headers map[string][]string
				Method  string
				URI     string
			}
			Response struct {
				Body    struct{ String string }
				Headers map[string][]string
				Status  struct{ Code int }
			}
		}
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(data, &cassette), file)
	rec := recording{name: recordingName(file)}
	for _, i := range cassette.Interactions {
		// Some tests passed bytes to the recorder, which wrote them in Python syntax.
		if body, found := strings.CutPrefix(i.Request.Body, "b'"); found {
			i.Request.Body = strings.TrimSuffix(body, "'")
		}
		rec.exchanges = append(rec.exchanges, exchangeRecord{
			method: i.Request.Method, url: i.Request.URI, header: headers(i.Request.Headers), body: []byte(i.Request.Body),
			status: i.Response.Status.Code, replyHeader: headers(i.Response.Headers), reply: i.Response.Body.String,
		})
	}
	return rec
}

func headers(in map[string][]string) http.Header {
	out := http.Header{}
	for name, values := range in {
		for _, v := range values {
			out.Add(name, v)
		}
	}
	return out
}
