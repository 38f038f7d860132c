package journal

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

func TestRecordsAreInFramesThatAreFullOrSealed(t *testing.T) {
	f := Format{Magic: "azframes", Full: 10, MaxPayload: 20, WellFormed: letters}
	var frames Frames
	frames.Seal()
	require.Empty(t, frames.Sealed, "no frame is empty")
	put := func(record string) bool { return frames.Put(&f, append(frames.Room(&f), record...)) }
	require.False(t, put("abcdefghi"))
	require.True(t, put("jklm"), "a record more than is full")
	require.False(t, put("n"))
	require.Equal(t, int64(14), frames.Size)
	shared := frames.Sealed
	frames.Seal()
	require.Len(t, shared, 1)
	require.Len(t, frames.Sealed, 2)

	frames.Drop(1)
	require.Equal(t, int64(1), frames.Size)
	require.Equal(t, "n", string(frames.Sealed[0][HeaderSize:]))
	frames.Add(frameOf("read"))
	require.Equal(t, int64(5), frames.Size)
	require.Equal(t, "abcdefghijklm", string(shared[0][HeaderSize:]), "a reader still uses these bytes")
}

func TestAKeyIsTextOfALengthThatTheServiceTakes(t *testing.T) {
	for key, want := range map[string]bool{
		"a": true, "ключ": true, "\x00": true, strings.Repeat("k", MaxKey): true,
		"": false, strings.Repeat("k", MaxKey+1): false, "\xff": false,
	} {
		require.Equal(t, want, IsKey(key), "%.20q", key)
		require.Equal(t, want, IsKey([]byte(key)), "%.20q", key)
	}
}

func TestReadingEndsWithTheErrorOfTheOwner(t *testing.T) {
	f := formats["hints"]
	whole, _ := written(f, "a", "b", "c")
	d := disktest.New()
	d.Put("file", whole)
	var got bytes.Buffer
	err := f.Read(d, "file", func(frame []byte, number uint32) error {
		got.Write(frame[HeaderSize:])
		if number == 2 {
			return disktest.ErrDisk
		}
		return nil
	})
	require.ErrorIs(t, err, disktest.ErrDisk)
	require.Equal(t, "ab", got.String())
}

// If the last attempt fails it is repeated once, and everything is closed in any case.
func TestTheEndOfALoopIsTriedTwiceAndClosesAll(t *testing.T) {
	for failures := range 3 {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			l := NewLoop(&mu, func(now time.Time) (time.Time, bool) { return now, false }, func() error { return nil })
			var calls []string
			left := failures
			last := func() error {
				calls = append(calls, "last")
				if left--; left >= 0 {
					return disktest.ErrDisk
				}
				return nil
			}
			end := func(name string) func() error {
				return func() error {
					calls = append(calls, name)
					return errors.New(name)
				}
			}
			go l.Run(last, end("file"), end("folder"))
			err := l.Close(t.Context())
			want := []string{"last", "last", "file", "folder"}[1-min(failures, 1):]
			require.Equal(t, want, calls)
			if failures == 2 {
				require.ErrorIs(t, err, disktest.ErrDisk, "Append returns the first error")
			} else {
				require.EqualError(t, err, "file")
			}
			require.NoError(t, l.Await(context.Background(), func() bool { return false }), "the log has ended")
		})
	}
}
