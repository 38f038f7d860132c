package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A record is in the next block although its producer writes nothing more, or one record every minute.
func TestRecordsOfASlowProducerAreReturnedAtOnce(t *testing.T) {
	for name, c := range map[string]struct{ first, second, third, header string }{
		"lines": {`{"id":"1"}` + "\n" + `{"id":"2"}` + "\n", `{"id":"3"}` + "\n", `{"id":"4"}`, ""},
		"array": {"[{\"id\":\"1\"},\n", "{\"id\":\"2\"},\n", "{\"id\":\"3\"}]", ""},
		"csv":   {"1;x\n2;\"a\nb\"\n", "3;y\n", "4;z", "\"id\";name\n"},
	} {
		for _, packed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r, w := io.Pipe()
					out := io.Writer(w)
					flush := func() error { return nil }
					if packed {
						z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
						require.NoError(t, err)
						out, flush = z, z.Flush
					}
					write := func(text string) { // as a program that writes lines in parts
						half := len(text) / 2
						for _, part := range []string{text[:half], text[half:]} {
							_, err := io.WriteString(out, part)
							require.NoError(t, errors.Join(err, flush()))
							time.Sleep(time.Minute)
						}
					}
					var writer sync.WaitGroup
					writer.Go(func() { write(c.header + c.first) })
					f, err := Open(t.Context(), Stdin, Options{Stdin: r})
					require.NoError(t, err)
					defer f.Close()
					next := func(want string) {
						t.Helper()
						got := ""
						for len(got) < len(want) {
							b, err := f.Next()
							require.NoError(t, err)
							got += string(b.Data)
							b.Free()
						}
						assert.Equal(t, want, got)
					}
					next(c.first)
					writer.Wait()
					began := time.Now()
					writer.Go(func() { write(c.second) })
					next(c.second)
					assert.Less(t, time.Since(began), 2*time.Minute, "the rest was written after a minute")
					writer.Wait()
					writer.Go(func() {
						_, _ = io.WriteString(out, c.third)
						if z, is := out.(io.Closer); is && packed {
							_ = z.Close()
						}
						_ = w.Close()
					})
					next(c.third)
					_, err = f.Next()
					assert.ErrorIs(t, err, io.EOF)
				})
			})
		}
	}
}

// Blocks are not smaller because a pipe passes on 64 KiB at a time, or a program writes line by line.
func TestRecordsOfABusyProducerAreReadTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() {
			for range 1000 {
				_, _ = io.WriteString(w, strings.Repeat("x", 1000)+"\n")
				time.Sleep(time.Microsecond)
			}
			_ = w.Close()
		}()
		f, err := Open(t.Context(), Stdin, Options{Stdin: r, Kind: string(JSONLines)})
		require.NoError(t, err)
		defer f.Close()
		n := 0
		for {
			b, err := f.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			n++
			b.Free()
		}
		assert.Equal(t, 4, n)
	})
}

func TestEndOfAContextReleasesWhoWaitsForInput(t *testing.T) {
	cause := errors.New("interrupted")
	for name, wrote := range map[string]string{"in Open": "", "in a line": `{"id"`, "between lines": "{}\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				r, w := io.Pipe()
				defer r.Close()
				go func() {
					if wrote != "" {
						_, _ = io.WriteString(w, wrote)
					}
					time.Sleep(time.Minute)
					cancel(cause)
				}()
				f, err := Open(ctx, Stdin, Options{Stdin: r})
				for err == nil {
					var b *Block
					if b, err = f.Next(); err == nil {
						assert.Equal(t, wrote, string(b.Data))
						b.Free()
					}
				}
				assert.ErrorIs(t, err, cause)
				if f != nil {
					f.Close()
				}
			})
		})
	}
}

func TestAnInputThatEndsIsReadWhole(t *testing.T) {
	text := strings.Repeat("{\"id\":\"1\"}\n", 100_000) + "{}"
	f, err := Open(t.Context(), Stdin, Options{Stdin: bytes.NewBufferString(text)})
	require.NoError(t, err)
	got, err := all(t, f)
	require.NoError(t, err)
	assert.Equal(t, text, got)
	assert.EqualValues(t, len(text), f.Read())

	if runtime.GOOS != "linux" {
		return
	}
	f, err = Open(t.Context(), os.DevNull, Options{})
	require.NoError(t, err)
	got, err = all(t, f)
	require.NoError(t, err)
	assert.Empty(t, got)
}
