package repair

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// older is a source whose Scan and Lookup are older than its Read, as in a transaction.
type older struct {
	half
	lacks string
}

func (o older) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	rows, err := o.half.Lookup(ctx, keys)
	for i := range rows {
		if rows[i].Key == o.lacks {
			return append(rows[:i:i], rows[i+1:]...), err
		}
	}
	return rows, err
}

func TestADocumentThatReadReturnsIsNotDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		time.Sleep(time.Minute)
		report, err := repairer(older{half{w, "source"}, key(7)}, half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: quiet}).RunKeys(t.Context(), key(7))
		require.NoError(t, err)
		assert.Zero(t, report.Deleted)
		w.agrees()
	})
}

// No query for text finds a blob: by Lookup alone all of them would be surplus.
func TestKeysThatAreBlobsAreNotDeletedByHints(t *testing.T) {
	w, s := lostOf(t, "BLOB PRIMARY KEY")
	s.Load = func(context.Context, []string) ([]models.RawAction, error) { return nil, nil }
	report, err := repairer(s, half{w.world, "index"}, w.sender.Raw(), &Options{Pause: time.Millisecond, Logger: quiet}).RunKeys(t.Context(), "1", "2", "4")
	require.ErrorIs(t, err, ErrContradiction)
	assert.Zero(t, report.Deleted)
}

func TestKeysOfWhichSomeAreBlobsAreRefused(t *testing.T) {
	w, s := lostOf(t, "TEXT PRIMARY KEY")
	_, err := s.DB.(*sql.DB).ExecContext(t.Context(), "INSERT INTO lost VALUES (?, 2)", []byte("k"))
	require.NoError(t, err)
	report, err := repairer(s, half{w.world, "index"}, w.sender.Raw(), &Options{Pause: time.Millisecond, Logger: quiet}).Run(t.Context())
	require.ErrorContains(t, err, "some are text, some bytes")
	assert.False(t, report.Agrees())
	s.Key = "CAST(id AS TEXT)"
	s.keys.bytes.Store(false)
	report, err = repairer(s, half{w.world, "index"}, w.sender.Raw(), &Options{Pause: time.Millisecond, Logger: quiet}).Run(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 7, report.Repaired)
}

func TestARowThatCannotBeComparedIsLeftOutAndNamed(t *testing.T) {
	w, s := lostOf(t, "TEXT PRIMARY KEY COLLATE NOCASE")
	for _, change := range []string{
		"INSERT INTO lost VALUES ('Ritz', 2)", "UPDATE lost SET version = 'infinity' WHERE id = '57'", "UPDATE lost SET version = 'new' WHERE id = '58'",
	} {
		_, err := s.DB.(*sql.DB).ExecContext(t.Context(), change)
		require.NoError(t, err)
	}
	require.NoError(t, w.sender.UploadDocuments(t.Context(), hotel{ID: "58", Version: 1}, hotel{ID: "ritz", Version: 2}))
	require.NoError(t, w.sender.Flush(t.Context(), nil))
	var log bytes.Buffer
	r := repairer(s, half{w.world, "index"}, w.sender.Raw(), &Options{Pause: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})

	report, err := r.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"57", "58", "ritz"}, report.Keys[Unreadable])
	assert.EqualValues(t, 3, report.Unreadable)
	assert.Zero(t, report.Deleted, "the source's row of ritz is unknown")
	assert.EqualValues(t, 7, report.Repaired, "all other rows, Ritz among them")
	assert.False(t, report.Agrees())
	assert.Contains(t, log.String(), `key=ritz problem="Lookup has returned the key \"Ritz\", which it was not asked for`)
	assert.Contains(t, log.String(), `key=57 problem="the column version: the version infinity (string) is neither`)

	report, err = r.RunKeys(t.Context(), "56", "ritz", "58")
	require.NoError(t, err)
	assert.Equal(t, []string{"58", "ritz"}, report.Keys[Unreadable])
	assert.Zero(t, report.Deleted)
}

// ritzAndSavoy adds keys in lower case to the index that the source returns in another case.
func ritzAndSavoy(t *testing.T) (*treed, *SQLSource) {
	t.Helper()
	w, s := lostOf(t, "TEXT PRIMARY KEY COLLATE NOCASE")
	_, err := s.DB.(*sql.DB).ExecContext(t.Context(), "INSERT INTO lost VALUES ('Ritz', 2), ('Savoy', 2)")
	require.NoError(t, err)
	for _, id := range []string{"Ritz", "Savoy", "ritz", "savoy", "x"} {
		require.NoError(t, w.sender.UploadDocuments(t.Context(), hotel{ID: id, Version: 2}))
	}
	require.NoError(t, w.sender.Flush(t.Context(), nil))
	all := s.Load
	s.Load = func(ctx context.Context, keys []string) ([]models.RawAction, error) {
		return all(ctx, slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == "x" }))
	}
	return w, s
}

// A lookup of these keys, and of absent ones, returns only rows that it was not asked for.
func TestTwoKeysInAnotherSpellingDoNotEndThePass(t *testing.T) {
	opts := &Options{Pause: time.Millisecond, Logger: quiet}
	both := []string{"ritz", "savoy"}
	t.Run("Run", func(t *testing.T) {
		w, s := ritzAndSavoy(t)
		report, err := repairer(s, half{w.world, "index"}, w.sender.Raw(), opts).Run(t.Context())
		require.NoError(t, err)
		assert.Equal(t, both, report.Keys[Unreadable])
		assert.Equal(t, []string{"x"}, w.deleted)
		assert.EqualValues(t, 6, report.Repaired)
	})
	t.Run("RunKeys", func(t *testing.T) {
		w, s := ritzAndSavoy(t)
		report, err := repairer(s, half{w.world, "index"}, w.sender.Raw(), opts).RunKeys(t.Context(), both...)
		require.NoError(t, err)
		assert.Equal(t, both, report.Keys[Unreadable])
		assert.Empty(t, w.deleted)
	})
}

func TestASourceWithOnlyOtherSpellingsEndsTheCall(t *testing.T) {
	w, s := lostOf(t, "TEXT PRIMARY KEY COLLATE NOCASE")
	var keys []string
	for i := range oddAtMost + 1 {
		_, err := s.DB.(*sql.DB).ExecContext(t.Context(), "INSERT INTO lost VALUES (?, 2)", fmt.Sprintf("X%d", i))
		require.NoError(t, err)
		keys = append(keys, fmt.Sprintf("x%d", i))
	}
	_, err := repairer(s, half{w.world, "index"}, w.sender.Raw(), &Options{Pause: time.Millisecond, Logger: quiet}).RunKeys(t.Context(), keys...)
	require.ErrorContains(t, err, "which it was not asked for")
}

// hasty is a source that omits unread rows, without an error, when its context ends.
type hasty struct{ half }

func (h hasty) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	if _, limited := ctx.Deadline(); limited { // the key is held
		<-ctx.Done()
		return nil, nil
	}
	return h.half.Lookup(ctx, keys)
}

func (h hasty) Read(ctx context.Context, _ []string) ([]models.RawAction, error) {
	<-ctx.Done()
	return nil, nil
}

func TestADocumentIsNotDeletedBecauseTheSourceHasRunOutOfTime(t *testing.T) {
	for name, source := range map[string]func(half) Source{
		"of Lookup": func(h half) Source { return hasty{h} },
		"of Read":   func(h half) Source { return onlyRead{older{h, key(7)}, hasty{h}} },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(100)
				w.behind(key(7), &hotel{ID: key(7), Version: 0})
				time.Sleep(time.Minute)
				report, err := repairer(source(half{w, "source"}), half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: quiet}).RunKeys(t.Context(), key(7))
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Zero(t, report.Deleted)
				assert.Empty(t, w.falsely)
			})
		})
	}
}

// onlyRead has the Read of another source.
type onlyRead struct {
	older
	reads hasty
}

func (o onlyRead) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	return o.reads.Read(ctx, keys)
}
