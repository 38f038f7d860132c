package main

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
)

func TestAnythingUnaccountedForIsAProblem(t *testing.T) {
	good := bufferedsender.Stats{Accepted: 10, Completed: 7, Failed: 2, Unsent: 1}
	reported := func() *outcomes { return &outcomes{completed: 7, failed: 2, unsent: 1} }
	for name, c := range map[string]struct {
		stats    bufferedsender.Stats
		reported *outcomes
		accepted int64
		problems int
	}{
		"all is well":                 {good, reported(), 10, 0},
		"the sender lost one":         {bufferedsender.Stats{Accepted: 11, Completed: 7, Failed: 2, Unsent: 1}, reported(), 11, 1},
		"a caller knows of more":      {good, reported(), 11, 1},
		"an event was not reported":   {good, &outcomes{completed: 6, failed: 2, unsent: 1}, 10, 1},
		"an event was reported twice": {good, &outcomes{completed: 7, failed: 3, unsent: 1}, 10, 1},
		"unsent was called a failure": {good, &outcomes{completed: 7, failed: 3}, 10, 1},
		"a handler panicked":          {bufferedsender.Stats{Accepted: 10, Completed: 7, Failed: 2, Unsent: 1, CallbackPanics: 1}, reported(), 10, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var r report
			r.account(c.stats, c.reported, c.accepted)
			require.Len(t, r.Problems, c.problems, "%v", r.Problems)
		})
	}
}

func TestProblemsOfTheLoaderReachTheReport(t *testing.T) {
	var r report
	r.parsed(&loader{tree: declarations.Tree{Packages: make([]declarations.Folder, 5)}, packages: 3, err: errors.New("it broke")})
	require.Equal(t, []string{"it broke"}, r.Problems)
	require.Equal(t, 2, r.NotParsed)
}

func TestBarEndsFull(t *testing.T) {
	var screen bytes.Buffer
	at := position{documents: 1234, done: 500, total: 1000}
	b := newBar(&screen)
	b.update(at)
	require.Contains(t, screen.String(), "1,234 documents")
	require.NotContains(t, screen.String(), "100%")
	b.finish(position{documents: 5678, done: 1000, total: 1000})
	require.Contains(t, screen.String(), "100%")
	require.True(t, bytes.HasSuffix(screen.Bytes(), []byte("\n")), "the figures begin on a line of their own")
}

func TestStoppedDisplayShowsTheEnd(t *testing.T) {
	var log bytes.Buffer
	stop := show(&lines{w: &log, started: time.Now()}, time.Hour, func() position { return position{documents: 7, done: 9, total: 9} })
	stop()
	require.Regexp(t, `^ *0\.\ds  100%          7 documents\n$`, log.String())
}
