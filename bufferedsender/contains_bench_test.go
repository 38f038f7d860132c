package bufferedsender_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// BenchmarkContains asks for 10 000 keys, half of which wait in a full buffer, as a consumer does that hands over a
// partition. The target is at most 10 ms.
func BenchmarkContains(b *testing.B) {
	const asked, buffered = 10_000, bufferedsender.DefaultMaxBufferedActions
	s, err := bufferedsender.New(&sink{}, &bufferedsender.Options[declaration]{DisableAutoFlush: true, Logger: sendertest.NoLog})
	require.NoError(b, err)
	for i := range buffered {
		require.NoError(b, s.TryIndexDocuments(models.UploadAction(declaration{ID: fmt.Sprintf("net_http_Client_%07d", i)})))
	}
	keys := make([]string, asked)
	for i := range keys {
		keys[i] = fmt.Sprintf("net_http_%s_%07d", []string{"Client", "Server"}[i%2], i)
	}
	b.ReportAllocs()
	for b.Loop() {
		found := s.Contains(keys...)
		if len(found) != asked || !found[0] || found[1] {
			b.Fatal("Contains is wrong")
		}
	}
	require.NoError(b, s.Close(b.Context()))
}
