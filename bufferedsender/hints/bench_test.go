package hints

import (
	"fmt"
	"testing"

	"github.com/go-azsearch/azsearch/internal/disk"
)

func BenchmarkAddOfAThousandNewKeys(b *testing.B) {
	for _, where := range []string{"memory", "file"} {
		b.Run(where, func(b *testing.B) {
			b.ReportAllocs()
			s := memory(0)
			if where == "file" {
				s = openDir(b, b.TempDir(), nil)
			}
			keys := keysOf(0, 1000)
			for i := 0; b.Loop(); i++ {
				_ = s.Add(fmt.Sprint(i%100), keys...)
				b.StopTimer()
				drain(s, fmt.Sprint(i%100))
				b.StartTimer()
			}
		})
	}
}

func BenchmarkTakeAndDoneOfAThousand(b *testing.B) {
	b.ReportAllocs()
	s := memory(0)
	_ = s.Add("hotels", keysOf(0, 100_000)...)
	for i := 100_000; b.Loop(); i += 1000 {
		s.Done(s.Take("hotels", 1000))
		_ = s.Add("hotels", keysOf(i, 1000)...)
	}
}

// BenchmarkSnapshotOfAMillion measures the longest wait of Add.
func BenchmarkSnapshotOfAMillion(b *testing.B) {
	s := memory(0)
	_ = s.Add("hotels", keysOf(0, 1_000_000)...)
	for b.Loop() {
		s.mu.Lock()
		s.snapshot()
		s.mu.Unlock()
	}
}

func BenchmarkOpenOfAMillion(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(dir, nil) // with room for a million
	if err != nil {
		b.Fatal(err)
	}
	_ = s.Add("hotels", keysOf(0, 1_000_000)...)
	if err := s.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s := new(Set)
		if err := s.open(disk.View(dir)); err != nil || s.Stats().Keys["hotels"] != 1_000_000 {
			b.Fatal(err)
		}
	}
}
