package stage

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Progress shows what status says until stop is called, for the last time then: on a terminal in one line, elsewhere in
// a line every two seconds. A second call of stop does nothing.
func Progress(w io.Writer, status func() string) (stop func()) {
	every, ending := 2*time.Second, "\n"
	if IsTerminal(w) {
		every, ending = 100*time.Millisecond, "\r"
	}
	began := time.Now()
	show := func() { fmt.Fprintf(w, "%5.1fs %s%s", time.Since(began).Seconds(), status(), ending) }
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show()
			case <-quit:
				show()
				fmt.Fprint(w, strings.TrimPrefix("\n", ending))
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(quit)
		<-ended
	})
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
