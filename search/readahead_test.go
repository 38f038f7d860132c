package search_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// slowShelf has n keys and takes 50 ms for each page.
func slowShelf(t *testing.T, n int) (s *shelf, want []string) {
	s = shelfOf(t)
	s.takes = 50 * time.Millisecond
	for i := range n {
		key := fmt.Sprintf("%05d", i)
		s.keys[key] = true
		want = append(want, key)
	}
	return s, want
}

// The results do not change.
func TestScanThatReadsAheadIsFaster(t *testing.T) {
	took := map[int]time.Duration{}
	for _, ahead := range []int{0, 1, 4} {
		synctest.Test(t, func(t *testing.T) {
			s, want := slowShelf(t, 1000)
			began := time.Now()
			got, err := scanKeys(t, newClient(t, s), &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: ahead})
			require.NoError(t, err)
			assert.Equal(t, want, got)
			took[ahead] = time.Since(began)
			assert.LessOrEqual(t, s.asked, 101+ahead, "each page once, and some pages after the last")
		})
	}
	assert.Equal(t, 101*50*time.Millisecond, took[0])
	assert.Equal(t, took[0], took[1], "without work between the pages reading ahead has no effect")
	assert.Less(t, took[4], took[0]/3)
}

func TestScanReadsAheadWhilePagesAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, want := slowShelf(t, 1000)
		began, n := time.Now(), 0
		for _, err := range search.Scan[models.Document](t.Context(), newClient(t, s), &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: 1}) {
			require.NoError(t, err)
			time.Sleep(5 * time.Millisecond)
			n++
		}
		assert.Len(t, want, n)
		assert.LessOrEqual(t, time.Since(began), 1000*5*time.Millisecond+3*50*time.Millisecond)
	})
}

// A page that fails or does not fit is requested again before the scan fails.
func TestScanThatReadsAheadAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, want := slowShelf(t, 100)
		s.refuse = func(page int) bool { return page == 2 || page == 5 }
		opts := &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: 3}
		got, err := scanKeys(t, newClient(t, s), opts)
		require.NoError(t, err)
		assert.Equal(t, want, got)

		s.refuse = func(page int) bool { return page >= 3 }
		s.asked = 0
		got, err = scanKeys(t, newClient(t, s), opts)
		require.ErrorContains(t, err, "403")
		assert.Equal(t, want[:len(got)], got)
		assert.Len(t, got, 20, "earlier pages are returned")
		assert.NotContains(t, err.Error(), "first page")
	})
}

// strictly reports whether keys are strictly ascending.
func strictly(keys []string) bool {
	return slices.IsSorted(keys) && len(slices.Compact(slices.Clone(keys))) == len(keys)
}

// Keys are added all the time at the scan's position.
func TestScanThatReadsAheadGoesOnWhereKeysCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, want := slowShelf(t, 200)
		s.seen = func(after string, skip int, keys []string) []string {
			if skip > 0 { // between the preceding pages and this one
				key := fmt.Sprintf("%s-%d", after, s.asked)
				s.keys[key] = true
				keys = slices.Sorted(maps.Keys(s.keys))
			}
			return keys
		}
		var requests atomic.Int32
		counted := transporter(func(req *http.Request) (*http.Response, error) {
			requests.Add(1)
			return s.Do(req)
		})
		got, err := scanKeys(t, newClient(t, counted), &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: 3})
		require.NoError(t, err)
		require.True(t, strictly(got))
		assert.Subset(t, got, want)
		assert.Greater(t, int(requests.Load()), len(got)/10+1+3+5, "pages that did not fit, in addition to those after the end")
	})
}

// The key before the page was deleted before the page was read, so the page starts too late and must be read again.
func TestScanReadsAgainBehindAGapInFrontOfAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, want := slowShelf(t, 100)
		goes := func(key string) bool { return key[4] == '5' || key[4] == '6' }
		s.seen = func(_ string, skip int, keys []string) []string {
			if skip > 0 {
				keys = slices.DeleteFunc(keys, goes)
			}
			return keys
		}
		got, err := scanKeys(t, newClient(t, s), &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: 3})
		require.NoError(t, err)
		require.True(t, strictly(got))
		assert.Subset(t, got, slices.DeleteFunc(want, goes))
	})
}

// Neither a request nor a goroutine remains.
func TestScanThatIsLeftLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := slowShelf(t, 1000)
		var under atomic.Int32
		slow := transporter(func(req *http.Request) (*http.Response, error) {
			under.Add(1)
			defer under.Add(-1)
			resp, err := s.Do(req)
			if err != nil {
				time.Sleep(time.Millisecond) // the goroutine ends asynchronously
			}
			return resp, err
		})
		began := time.Now()
		for doc, err := range search.Scan[models.Document](t.Context(), newClient(t, slow), &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: 8}) {
			require.NoError(t, err)
			if key, _ := doc.String("hotelId"); key == "00030" {
				synctest.Wait()
				assert.Positive(t, under.Load())
				break
			}
		}
		assert.Zero(t, under.Load(), "requests under way")
		assert.Less(t, time.Since(began), 4*50*time.Millisecond, "the scan does not wait for unneeded pages")
		asked := s.asked
		time.Sleep(time.Minute)
		assert.Equal(t, asked, s.asked)
	})
}

func TestPagesOfOneDocumentAreNotReadAhead(t *testing.T) {
	s := shelfOf(t, "a", "b", "c")
	s.most = 1
	got, err := scanKeys(t, newClient(t, s), &search.ScanOptions{KeyField: "hotelId", ReadAhead: 4})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, got)

	_, err = scanKeys(t, newClient(t, s), &search.ScanOptions{KeyField: "hotelId", ReadAhead: 17})
	require.ErrorContains(t, err, "ReadAhead: 17 is not from 0 to 16")
	_, err = search.NewRows(newClient(t, s), &search.RowsOptions{ReadAhead: -1})
	require.ErrorContains(t, err, "ReadAhead: -1 is not from 0 to 16")
}
