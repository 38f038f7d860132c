package repair

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// The source lags and reports that a recently published document is a draft.
func TestAHiddenRowThatIsOlderThanItsDocumentDeletesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.set(key(1), &hotel{ID: key(1), Version: 3, Draft: true})
		w.behind(key(1), &hotel{ID: key(1), Version: 4})
		time.Sleep(time.Minute)
		report, err := w.repair(nil)
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 0, 0}, []int64{report.Ahead, report.Surplus, report.Deleted})
		assert.Contains(t, w.index, key(1))
		report, err = w.repair(&Options{TrustSource: true})
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Deleted)
		assert.NotContains(t, w.index, key(1))
	})
}

// panics is a source that panics in the given method.
type panics struct {
	half
	in string
}

func (p panics) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		if p.in == "Scan" {
			panic("of the source")
		}
		p.half.Scan(ctx, after, through)(yield)
	}
}

func (p panics) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	if p.in == "Lookup" {
		panic("of the source")
	}
	return p.half.Lookup(ctx, keys)
}

func (p panics) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	if p.in == "Read" {
		panic("of the source")
	}
	return p.half.Read(ctx, keys)
}

// The panic must not end the process.
func TestASourceThatPanicsEndsThePassAndNotTheProcess(t *testing.T) {
	for _, in := range []string{"Scan", "Lookup", "Read"} {
		inBubble(t, func(t *testing.T, w *world) {
			w.fill(100)
			w.behind(key(1), nil)
			time.Sleep(time.Minute)
			s := w.sender(nil)
			_, err := repairer(panics{half{w, "source"}, in}, half{w, "index"}, s.Raw(), &Options{Logger: quiet}).Run(t.Context())
			require.ErrorContains(t, err, "panicked: of the source", in)
			require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: key(1)}), "no key is held")
			require.NoError(t, s.Flush(t.Context(), nil))
		})
	}
}

// hangs is a source that does not answer in the given method until its context ends.
type hangs struct {
	half
	in string
}

func (h hangs) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for row, err := range h.half.Scan(ctx, after, through) {
			if !yield(row, err) {
				return
			}
			if h.in == "Scan" { // without an error, as if that were all
				<-ctx.Done()
				return
			}
		}
	}
}

func (h hangs) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	if h.in == "Lookup" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.half.Lookup(ctx, keys)
}

// A Watch must get to its next pass.
func TestASourceThatDoesNotAnswerEndsThePass(t *testing.T) {
	for in, words := range map[string]string{"Scan": "Scan of the source: it has returned no row", "Lookup": "Lookup of the source took longer"} {
		inBubble(t, func(t *testing.T, w *world) {
			w.fill(100)
			w.behind(key(1), nil)
			time.Sleep(time.Minute)
			s, began := w.sender(nil), time.Now()
			_, err := repairer(hangs{half{w, "source"}, in}, half{w, "index"}, s.Raw(), &Options{Logger: quiet}).Run(t.Context())
			require.ErrorContains(t, err, words)
			assert.Less(t, time.Since(began), 12*time.Minute)
			assert.Len(t, w.index, 99, "nothing is deleted for rows that did not come")
			require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: key(1)}), "no key is held")
			require.NoError(t, s.Flush(t.Context(), nil))
		})
	}
}

// stuck is a source whose Read hangs.
type stuck struct{ half }

func (s stuck) Read(ctx context.Context, _ []string) ([]models.RawAction, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Writers wait for keys that a repair holds, so it must not hold them forever.
func TestASourceThatDoesNotAnswerDoesNotKeepItsKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.behind(key(1), nil)
		time.Sleep(time.Minute)
		s := w.sender(nil)
		go func() {
			time.Sleep(10 * time.Second)
			_ = s.UploadDocuments(t.Context(), hotel{ID: key(1), Version: 1})
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		_, err := repairer(stuck{half{w, "source"}}, half{w, "index"}, s.Raw(), &Options{Logger: quiet}).Run(ctx)
		require.Error(t, err)
		assert.Less(t, time.Since(began), 5*time.Minute)
		time.Sleep(time.Minute)
		_, there := w.has(key(1))
		assert.True(t, there, "the write that waited for the key")
	})
}

func TestAFileFromWindowsIsASource(t *testing.T) {
	var b bytes.Buffer
	for i := range 2500 {
		fmt.Fprintf(&b, "{\"id\":\"%04d\",\"version\":7}\r\n", i+1)
	}
	b.Truncate(b.Len() - 2) // without the final newline
	path := filepath.Join(t.TempDir(), "things.jsonl")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	j, err := OpenJSONL(path, &JSONLOptions{Key: "id", Version: "version"})
	require.NoError(t, err)
	defer j.Close()
	checkSource(t, j)
}

// The service stores milliseconds. If more precise times of a database counted as different, they would be repaired
// forever.
func TestTimesAreVersionsAsTheServiceKeepsThem(t *testing.T) {
	exact := time.Date(2026, 11, 26, 1, 2, 3, 755_205_300, time.UTC)
	kept := time.Date(2026, 11, 26, 1, 2, 3, 755_000_000, time.UTC)
	want, err := versionOf(kept)
	require.NoError(t, err)
	for _, value := range []any{exact, exact.Format(time.RFC3339Nano), []byte(exact.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano))} {
		got, err := versionOf(value)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%v", value)
	}
	a, err := models.DigestOf([]byte(`{"t":"` + exact.Format(time.RFC3339Nano) + `"}`))
	require.NoError(t, err)
	b, err := models.DigestOf([]byte(`{"t":"` + kept.Format(time.RFC3339Nano) + `"}`))
	require.NoError(t, err)
	assert.Equal(t, a, b)
}

// MySQL's driver returns BIGINT UNSIGNED as uint64.
func TestVersionsThatDriversReturn(t *testing.T) {
	for _, value := range []any{uint64(7), int32(7), int64(7), "7", []byte("7")} {
		got, err := versionOf(value)
		require.NoError(t, err)
		assert.EqualValues(t, 7, got, "%T", value)
	}
	_, err := versionOf(uint64(1) << 63)
	require.Error(t, err)
}

// plainIndex is an index whose rows have no versions.
type plainIndex struct{ half }

func (p plainIndex) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		p.half.Scan(ctx, after, through)(func(row models.Row, err error) bool {
			row.Version = 0
			return yield(row, err)
		})
	}
}

func (p plainIndex) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	rows, err := p.half.Lookup(ctx, keys)
	for i := range rows {
		rows[i].Version = 0
	}
	return rows, err
}

// The source has versions and the index has none, so every document differs after every write.
func TestSidesThatCannotAgreeAreNotWrittenAgainAndAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(3000)
		_, err := repairer(half{w, "source"}, plainIndex{half{w, "index"}}, w.sender(nil).Raw(), &Options{Logger: quiet, MaxShare: 1}).Run(t.Context())
		require.ErrorIs(t, err, ErrNothingSettles)
		w.agrees()
	})
}

// The guard would not count it.
func TestADeleteOfTheSourceIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.set(key(1), &hotel{ID: key(1), Version: 2})
		source := Functions{ScanRows: half{w, "source"}.Scan, LookupKeys: half{w, "source"}.Lookup, ReadKeys: func(context.Context, []string) ([]models.RawAction, error) {
			return []models.RawAction{{Key: key(1), Type: models.ActionTypeDelete}}, nil
		}}
		_, err := repairer(source, half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: quiet}).Run(t.Context())
		require.ErrorContains(t, err, "leave out documents that do not exist")
		assert.Empty(t, w.deleted)
	})
}
