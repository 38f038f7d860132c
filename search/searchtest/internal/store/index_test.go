package store

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
)

// A read sees everything that was written at least the lag earlier.
func TestVisibleDocumentsAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lag := time.Duration(rapid.IntRange(1, 5).Draw(t, "lag"))
		d := documents{live: map[string]document{}, visible: map[string]document{}, lag: lag}
		now := time.Unix(0, 0)
		type write struct {
			at   time.Time
			key  string
			data []byte
		}
		var all []write
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "pause")))
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				data := []byte(fmt.Sprint(len(all)))
				d.put(key, data, now)
				all = append(all, write{now, key, data})
			case 1:
				d.remove(key, now)
				all = append(all, write{now, key, nil})
			}
			d.Settle(now)
			want, got := map[string][]byte{}, map[string][]byte{}
			for _, w := range all {
				if w.at.Add(lag).After(now) {
					break
				}
				if w.data == nil {
					delete(want, w.key)
				} else {
					want[w.key] = w.data
				}
			}
			for key, doc := range d.visible {
				got[key] = doc.data
			}
			require.Equal(t, want, got)
			require.LessOrEqual(t, d.settled, len(d.pending))
		}
		bytes := 0
		for key, doc := range d.live {
			bytes += len(key) + len(doc.data)
		}
		require.EqualValues(t, bytes, d.bytes)
	})
}

// The kept history is always the end of the full history.
func TestHistoryIsTheEndOfWhatHappened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 8).Draw(t, "limit")
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 40).Draw(t, "keys")
		log := changeLog{limit: limit, keepContents: true}
		from := &Origin{}
		var shared []byte // the data of merges does not outlive the request
		for i, key := range keys {
			if i%2 == 0 {
				log.add(key, models.ActionTypeUpload, 200, from, []byte(strconv.Itoa(i)))
				continue
			}
			shared = strconv.AppendInt(shared[:0], int64(i), 10)
			log.add(key, models.ActionTypeMerge, 200, from, shared)
		}
		kept := keys[max(0, len(keys)-limit):]
		var all []string
		for c := range log.all() {
			all = append(all, c.Key)
			require.EqualValues(t, len(keys)-len(kept)+len(all), c.Seq)
			require.Equal(t, strconv.FormatUint(c.Seq-1, 10), string(c.Document))
		}
		require.Equal(t, len(kept), len(all))
		for i := range all {
			require.Equal(t, kept[i], all[i])
		}
		for _, key := range []string{"a", "b", "c"} {
			var want []uint64
			for i, k := range kept {
				if k == key {
					want = append(want, uint64(len(keys)-len(kept)+i+1))
				}
			}
			var got []uint64
			for _, c := range log.of(key) {
				got = append(got, c.Seq)
				require.Equal(t, strconv.FormatUint(c.Seq-1, 10), string(c.Document))
			}
			require.Equal(t, want, got)
		}
		require.LessOrEqual(t, len(log.heads), limit)
	})
}

func TestContentsAreNotKeptUnasked(t *testing.T) {
	ix := New(compiled(t, ""), Options{KeepChanges: 10})
	ix.Apply(new(Origin), []batch.Action{{Key: "1", Type: models.ActionTypeUpload, Data: []byte{0}}}, nil)
	require.Len(t, ix.AllChanges(), 1)
	assert.Nil(t, ix.changes.contents)
}

func TestALookupKnowsEveryFieldOfTheDocumentItFinds(t *testing.T) {
	ix := New(compiled(t, ""), Options{})
	type found struct {
		data []byte
		sc   *schema.Index
	}
	ix.mu.Lock()
	got := make(chan found, 1)
	go func() {
		data, sc := ix.Get("1", time.Now())
		got <- found{data, sc}
	}()
	// The lookup is in progress once it waits for the lock that the test holds.
	for stacks := make([]byte, 1<<20); len(got) == 0 && !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), ").Get("); {
		runtime.Gosched()
	}
	wide := compiled(t, `,{"name":"new","type":"Edm.Int32"}`)
	ix.SetSchema(wide)
	ix.put("1", []byte{7}, time.Now())
	ix.mu.Unlock()
	assert.Equal(t, found{[]byte{7}, wide}, <-got)
}

// compiled returns the definition of an index with a key and more fields.
func compiled(t *testing.T, more string) *schema.Index {
	sc, err := schema.Compile([]byte(`{"name":"stale","fields":[{"name":"id","type":"Edm.String","key":true}`+more+`]}`), apiversion.Latest())
	require.Nil(t, err)
	return sc
}
