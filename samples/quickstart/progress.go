package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// plainInterval is the time between two lines of progress where there is no
// terminal to draw a bar on.
const plainInterval = 2 * time.Second

// position is how far a run has come.
type position struct {
	documents   int64 // settled
	done, total int64 // bytes of source
}

// display shows how far a run has come.
type display interface {
	update(position)
	finish(position)
}

// showProgress draws on w what at says, until stop is called, which waits for
// the last picture. A second call of stop does nothing.
func showProgress(w io.Writer, at func() position) (stop func()) {
	var d display = &lines{w: w, started: time.Now()}
	every := plainInterval
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		d, every = newBar(f), 100*time.Millisecond
	}
	return show(d, every, at)
}

func show(d display, every time.Duration, at func() position) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				d.update(at())
			case <-quit:
				d.finish(at())
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(quit)
		<-ended
	})
}

// bar draws on a terminal.
type bar struct {
	w   io.Writer
	bar *progressbar.ProgressBar
}

func newBar(w io.Writer) *bar {
	return &bar{w, progressbar.NewOptions64(1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetPredictTime(true),
	)}
}

func (b *bar) update(p position) {
	b.bar.Describe(fmt.Sprintf("%9s documents", humanize.Comma(p.documents)))
	// The library takes a full bar for the end, after which it does not move.
	b.bar.ChangeMax64(p.total + 1)
	_ = b.bar.Set64(p.done)
}

func (b *bar) finish(p position) {
	b.update(p)
	if p.done == p.total {
		b.bar.ChangeMax64(p.total)
		_ = b.bar.Set64(p.total)
	}
	_ = b.bar.Exit()
	fmt.Fprintln(b.w)
}

// lines writes where there is no terminal: a log file, CI.
type lines struct {
	w       io.Writer
	started time.Time
}

func (l *lines) update(p position) {
	fmt.Fprintf(l.w, "%5.1fs %4d%% %10s documents\n", time.Since(l.started).Seconds(), 100*p.done/max(1, p.total), humanize.Comma(p.documents))
}

func (l *lines) finish(p position) { l.update(p) }
