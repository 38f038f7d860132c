package sqlkit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stated is an error of a PostgreSQL driver, coded one of SQLite.
type (
	stated string
	coded  int
)

func (s stated) Error() string    { return "no words" }
func (s stated) SQLState() string { return string(s) }
func (c coded) Error() string     { return "no words" }
func (c coded) Code() int         { return int(c) }

func TestClassesAreKnownByStatesByCodesAndByWords(t *testing.T) {
	for want, errs := range map[Class][]error{
		Other:       {nil, errors.New("driver: bad connection"), stated("08006"), coded(1), context.Canceled},
		Undone:      {stated("40001"), stated("40P01")},
		Duplicate:   {stated("23505"), stated("42P07"), stated("42710"), errors.New("UNIQUE constraint failed: t.id")},
		Busy:        {coded(5), coded(6), coded(517), errors.New("sqlite3: database is locked"), errors.New("database table is locked: t")},
		LockTimeout: {stated("55P03")},
		NoTable:     {stated("42P01"), errors.New("SQL logic error: no such table: t (1)")},
		OtherTable:  {stated("42703"), stated("42804"), errors.New("no such column: a"), errors.New("table t has no column named a")},
		Denied:      {stated("42501"), coded(8), errors.New("attempt to write a readonly database")},
		Standby:     {stated("25006")},
		Full:        {stated("53100"), coded(13), errors.New("database or disk is full")},
	} {
		for _, err := range errs {
			assert.Equal(t, want, Classify(err), "%v", err)
			if err != nil {
				assert.Equal(t, want, Classify(fmt.Errorf("wrapped: %w", err)), "%v", err)
			}
		}
		assert.NotEmpty(t, want.String())
	}
	assert.Equal(t, Other, Classify(stated("")), "a state is not guessed from words that are not there")
}

func TestWhatTheDatabaseHasUndoneIsTriedAgainForATime(t *testing.T) {
	for name, row := range map[string]struct {
		err    error
		also   []Class
		calls  int
		lasts  time.Duration
		passes int // succeeds after this many errors, 0: never
	}{
		"works":               {nil, nil, 1, 0, 1},
		"is undone once":      {stated("40001"), nil, 2, 5 * time.Millisecond, 2},
		"is undone each time": {stated("40P01"), nil, 10, 225 * time.Millisecond, 0},
		"is there by another": {stated("42P07"), []Class{Duplicate}, 2, 5 * time.Millisecond, 2},
		"exists, and the caller does not accept that": {stated("42P07"), nil, 1, 0, 0},
		"finds the file locked":                       {coded(5), nil, 102, 101 * busyRests, 0},
		"finds the file locked a while":               {errors.New("database is locked"), nil, 21, time.Second, 21},
		"is not known to have ended":                  {errors.New("driver: bad connection"), nil, 1, 0, 0},
		"is refused a lock":                           {stated("55P03"), nil, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls, began := 0, time.Now()
				err := Retry(t.Context(), func() error {
					if calls++; calls == row.passes {
						return nil
					}
					return row.err
				}, row.also...)
				if row.passes > 0 {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, row.err)
				}
				assert.Equal(t, row.calls, calls)
				assert.Equal(t, row.lasts, time.Since(began))
			})
		})
	}
}

func TestATryThatIsGivenUpSaysBothReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/3)
		defer cancel()
		err := Retry(ctx, func() error { return coded(5) })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, coded(5))
	})
}
