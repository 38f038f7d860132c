// Command errors shows what each kind of failure looks like to a program: which
// call or event reports it, with which type, and what to do about it. It needs
// nothing: the service, and everything that is wrong with it, is emulated.
//
//	go run ./samples/errors
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "errors: takes no arguments")
		os.Exit(2)
	}
	if err := show(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "errors:", err)
		os.Exit(1)
	}
}

// story is one kind of failure.
type story struct {
	title   string
	explain string // when it happens and what to do
	tell    func(ctx context.Context, p *page) error
}

// show tells all stories. An error means that one of them did not go as its text
// says.
func show(ctx context.Context, w io.Writer) error {
	for _, s := range stories() {
		fmt.Fprintf(w, "== %s\n%s\n", s.title, s.explain)
		if err := s.tell(ctx, &page{w}); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
		fmt.Fprintln(w)
	}
	return nil
}

func stories() []story {
	var all []story
	all = append(all, addStories...)
	all = append(all, actionStories...)
	all = append(all, endStories...)
	return append(all, serviceStories...)
}

// page is what a story writes on.
type page struct{ w io.Writer }

// fact writes one line of what a program can find out.
func (p *page) fact(name, format string, args ...any) {
	fmt.Fprintf(p.w, "    %-32s %s\n", name, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " | "))
}
