package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

// talk returns what the screen shows after the given lines, behind which is the end.
func talk(t *testing.T, client *search.Client, typed string) string {
	t.Helper()
	var screen bytes.Buffer
	require.NoError(t, converse(t.Context(), client, question{top: 1, page: 1}, strings.NewReader(typed), &page{w: &screen}))
	return screen.String()
}

func TestEachLineIsAnswered(t *testing.T) {
	screen := talk(t, filled(t), "timeout\n\nxyz\nreadfile\n")
	require.Contains(t, screen, "1 to 1 of 4")
	require.Contains(t, screen, "nothing found")
	require.Contains(t, screen, "ReadFile  os  os/file.go:4")
	require.Equal(t, 5, strings.Count(screen, "search> "))
}

func TestTabCompletes(t *testing.T) {
	require.Contains(t, talk(t, filled(t), "re\t\n"), "readdir  readfile\n")
}

func TestConversationGoesOnAfterAnError(t *testing.T) {
	asked := 0
	client := served(t, func(r *http.Request) (*http.Response, error) {
		if asked++; asked == 1 {
			return replying(http.StatusForbidden, `{"error": {"message": "not now"}}`)(r)
		}
		return replying(http.StatusOK, `{"@odata.count": 0, "value": []}`)(r)
	})
	screen := talk(t, client, "x\nx\n")
	require.Contains(t, screen, "not now")
	require.Contains(t, screen, "nothing found")
}

func TestConversationEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		keys, hand := io.Pipe()
		defer hand.Close() // the goroutine that reads ends, too
		over := make(chan error, 1)
		go func() { over <- converse(ctx, nil, question{top: 1, page: 1}, keys, &page{w: io.Discard}) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-over, context.Canceled)
	})
}
