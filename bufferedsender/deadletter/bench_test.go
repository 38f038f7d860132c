package deadletter

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// kilobyteLetter has a document of a kilobyte.
func kilobyteLetter(i int) Letter {
	l := letterOf(fmt.Sprint("k", i), i)
	l.Document = json.RawMessage(fmt.Sprintf(`{"id":"k%d","v":%d,"text":%q}`, i, i, strings.Repeat("x", 980)))
	return l
}

func benchOptions() *FileOptions { return &FileOptions{MaxTotalBytes: -1} }

func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d letters of 1 KB", n), func(b *testing.B) {
			f := openDir(b, b.TempDir(), benchOptions())
			var letters []Letter
			for i := range n {
				letters = append(letters, kilobyteLetter(i))
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Write(b.Context(), letters); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(f.Stats().Bytes / int64(b.N))
		})
	}
}

func fillDir(b *testing.B, dir string, n int) {
	b.Helper()
	f, err := Open(dir, benchOptions())
	require.NoError(b, err)
	for i := range n {
		require.NoError(b, f.Write(b.Context(), []Letter{kilobyteLetter(i)}))
	}
	require.NoError(b, f.Close())
}

func BenchmarkRead(b *testing.B) {
	const n = 10_000
	dir := b.TempDir()
	fillDir(b, dir, n)
	b.ReportAllocs()
	for b.Loop() {
		read := 0
		for _, err := range Read(os.DirFS(dir)) {
			if err != nil {
				b.Fatal(err)
			}
			read++
		}
		if read != n {
			b.Fatalf("%d letters", read)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "letters/s")
}

// BenchmarkReplay uses a sender that takes no time.
func BenchmarkReplay(b *testing.B) {
	const n = 10_000
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		fillDir(b, dir, n)
		f, err := Open(dir, nil)
		require.NoError(b, err)
		b.StartTimer()
		report, err := Replay(b.Context(), f, testIndex, sender(func(_ context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
			return make([]models.IndexingResult, len(actions)), nil
		}), nil)
		b.StopTimer()
		require.NoError(b, err)
		require.Equal(b, Report{Sent: n, Delivered: n}, report)
		require.NoError(b, f.Close())
		b.StartTimer()
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "letters/s")
}
