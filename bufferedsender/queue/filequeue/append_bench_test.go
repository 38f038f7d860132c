package filequeue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkAppend is a synced Append of one record of 400 bytes, by one caller and by 64.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			q, err := Open(b.TempDir(), nil)
			require.NoError(b, err)
			text := strings.Repeat("x", 400)
			b.SetParallelism(callers)
			b.RunParallel(func(p *testing.PB) {
				a := newAdder(q)
				for i := 0; p.Next(); i++ {
					r := upload(fmt.Sprint(a.id, i%1000), i)
					r.Body = append(r.Body, text...)
					if err := a.append(b.Context(), r); err != nil {
						b.Error(err)
						return
					}
				}
			})
			require.NoError(b, q.Close())
		})
	}
}
