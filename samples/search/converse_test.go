package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// typing is a terminal at which somebody has typed everything already.
type typing struct {
	io.Reader
	screen *bytes.Buffer
}

func (t typing) Write(p []byte) (int, error) { return t.screen.Write(p) }

// talk returns what the screen shows after the given keys; a line ends with \r,
// and without another one the end is Ctrl-D.
func talk(t *testing.T, keys string) string {
	t.Helper()
	var screen bytes.Buffer
	c := newConversation(filled(t), question{top: 1, page: 1}, typing{strings.NewReader(keys), &screen}, false)
	require.NoError(t, c.run(t.Context()))
	return strings.ReplaceAll(screen.String(), "\r\n", "\n")
}

func TestConversationKeepsWhatItIsLimitedTo(t *testing.T) {
	screen := talk(t, "timeout\r:kind type\r:more\r:kind\r:package net/http\r:package\r:more\r:quit\rignored\r")
	var pages []string
	for line := range strings.Lines(screen) {
		if strings.Contains(line, " of ") || strings.Contains(line, "earlier pages") {
			pages = append(pages, strings.TrimSpace(line))
		}
	}
	require.Equal(t, []string{"1 to 1 of 4", "1 to 1 of 1", "1 found, on earlier pages", "1 to 1 of 4", "1 to 1 of 1", "1 to 1 of 4", "2 to 2 of 4"}, pages)
	require.NotContains(t, screen, "ignored")
}

func TestConversationSaysWhatItDoesNotUnderstand(t *testing.T) {
	screen := talk(t, ":nonsense\r:kind class\r\r:more\r:all\rreadall\r")
	require.Contains(t, screen, ":package PATH")
	require.Contains(t, screen, `:kind: "class" is none of`)
	require.Contains(t, screen, "1 to 1 of 1", "what is not exported")
}

func TestTabCompletes(t *testing.T) {
	screen := talk(t, "readf\t\r")
	require.Contains(t, screen, "readfile")
	require.Contains(t, screen, "ReadFile  os  os/file.go:4")

	// Several ways to go on: all are shown, and what they share is typed.
	screen = talk(t, "re\t\r")
	require.Contains(t, screen, "readdir  readfile\n")

	// Nothing to complete.
	screen = talk(t, "\t:ki\t\rxyz\t\r")
	require.Contains(t, screen, "nothing found")
}

func TestConversationEndsWithItsContext(t *testing.T) {
	keyboard, hand := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := newConversation(filled(t), question{top: 1, page: 1}, typing{keyboard, &bytes.Buffer{}}, false)
	cancel()
	require.ErrorIs(t, c.run(ctx), context.Canceled)
	require.NoError(t, hand.Close()) // the goroutine that reads ends, too
}

func TestCommonPrefixEndsBetweenCharacters(t *testing.T) {
	require.Equal(t, "read", commonPrefix([]string{"readfile", "readdir"}))
	require.Empty(t, commonPrefix([]string{"é", "è"}))
	require.Equal(t, "one", commonPrefix([]string{"one"}))
}
