package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
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

// somebody types while a conversation runs, inside a bubble.
type somebody struct {
	t      *testing.T
	hand   *io.PipeWriter
	screen *bytes.Buffer
	over   chan error
}

func sitDown(ctx context.Context, t *testing.T, client *search.Client) *somebody {
	keys, hand := io.Pipe()
	s := &somebody{t, hand, &bytes.Buffer{}, make(chan error, 1)}
	c := newConversation(client, question{top: 10, page: 1}, typing{keys, s.screen}, false)
	go func() { s.over <- c.run(ctx) }()
	t.Cleanup(func() { hand.Close() }) // the goroutine that reads ends, too
	return s
}

// types returns what the screen shows of it when nothing goes on any more.
func (s *somebody) types(keys string) string {
	s.t.Helper()
	synctest.Wait()
	s.screen.Reset()
	_, err := s.hand.Write([]byte(keys))
	require.NoError(s.t, err)
	synctest.Wait()
	return strings.ReplaceAll(s.screen.String(), "\r\n", "\n")
}

func TestConversationEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := sitDown(ctx, t, nil)
		s.types("word")
		cancel()
		require.ErrorIs(t, <-s.over, context.Canceled)
	})
}

// silent is a service that never answers.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestCtrlCEndsTheQueryAndThenTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sitDown(t.Context(), t, served(t, silent))
		for _, query := range []string{"read\r", "read\t", ":all\r"} {
			require.NotContains(t, s.types(query), "interrupted")
			shown := s.types("forgotten\x03")
			require.Contains(t, shown, "interrupted\n")
			require.NotContains(t, shown, "forgotten")
			require.Empty(t, s.over)
			require.Contains(t, s.types("\x15:help\r"), ":package PATH", "the prompt is there again")
		}
		s.types("half a line\x03")
		require.ErrorIs(t, <-s.over, errInterrupted)
	})
}

func TestCtrlDEndsTheConversationWithoutAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sitDown(t.Context(), t, nil)
		s.types("\x04")
		require.NoError(t, <-s.over)
	})
}

func TestPageThatWasNotShownIsShownNextTime(t *testing.T) {
	var skipped []int
	client := served(t, func(r *http.Request) (*http.Response, error) {
		var body struct{ Skip int }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
		if skipped = append(skipped, body.Skip); len(skipped) == 2 {
			return reply(http.StatusForbidden, `{"error": {"message": "not now"}}`)(r)
		}
		return reply(http.StatusOK, `{"@odata.count": 50, "value": []}`)(r)
	})
	var screen bytes.Buffer
	c := newConversation(client, question{top: 10, page: 1}, typing{strings.NewReader("read\r:more\r:more\r"), &screen}, false)
	require.NoError(t, c.run(t.Context()))
	require.Equal(t, []int{0, 10, 10}, skipped)
}

func TestTerminalWithoutASizeIsAsLargeAsUsual(t *testing.T) {
	for _, width := range []int{0, 80} {
		var screen bytes.Buffer
		c := newConversation(nil, question{top: 1, page: 1}, typing{strings.NewReader(":all\r"), &screen}, false)
		require.NoError(t, c.fit(width, 24*width/80))
		require.NoError(t, c.run(t.Context()))
		require.Equal(t, "search> :all", strings.SplitN(screen.String(), "\r\n", 2)[0])
	}
}

func TestCommonPrefixEndsBetweenCharacters(t *testing.T) {
	require.Equal(t, "read", commonPrefix([]string{"readfile", "readdir"}))
	require.Empty(t, commonPrefix([]string{"é", "è"}))
	require.Equal(t, "one", commonPrefix([]string{"one"}))
}
