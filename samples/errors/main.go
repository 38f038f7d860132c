// Command errors shows what each kind of failure looks like to a program: which call or event reports it, with which
// type, and how to react. The service and its failures are emulated.
//
//	go run ./samples/errors
//
// refused.go has documents that the sender refuses, failed.go documents that fail after they were accepted.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("errors", program) }

func program(p *stage.Program) func(context.Context) error {
	return func(ctx context.Context) error { return show(ctx, p.Out) }
}

// Hotel is the document of all stories.
type Hotel struct {
	ID     string  `json:"id" search:"key"`
	Name   string  `json:"name" search:"searchable"`
	Rating float64 `json:"rating" search:"filterable,sortable"`
}

type sender = bufferedsender.BufferedSender[Hotel]

// story is one kind of failure.
type story struct {
	title   string
	explain string // when it happens and how to react
	service searchtest.Options
	faults  []searchtest.Fault
	tell    func(ctx context.Context, p *page) error
}

// show plays all stories. It returns an error if one of them does not end as its text says.
func show(ctx context.Context, w io.Writer) error {
	for _, s := range slices.Concat(refusedByTheSender, failedActions, failedCalls) {
		fmt.Fprintf(w, "== %s\n%s\n", s.title, s.explain)
		if err := s.play(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
		fmt.Fprintln(w)
	}
	return nil
}

func (s *story) play(ctx context.Context, w io.Writer) error {
	service := stage.Emulate(&s.service)
	defer service.Close()
	client, err := stage.Open[Hotel](ctx, service, "hotels")
	if err != nil {
		return err
	}
	service.Faults(s.faults...)
	return s.tell(ctx, &page{w, service.Emulator, client})
}

// page is the output of a story, and its service.
type page struct {
	w      io.Writer
	srv    *searchtest.Server
	client *search.Client
}

// fact prints one property of a failure.
func (p *page) fact(name, format string, args ...any) {
	fmt.Fprintf(p.w, "    %-32s %s\n", name, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " | "))
}

// impatient returns the options of a client that does not retry.
func impatient(srv *searchtest.Server) *search.ClientOptions {
	opts := stage.Inside(srv)
	opts.Retry = policy.RetryOptions{MaxRetries: -1}
	return opts
}

// newSender returns a sender that does not wait between attempts and has no breaker unless the story sets one, so
// that a failing service ends the story.
func newSender(indexer bufferedsender.Indexer, opts bufferedsender.Options[Hotel]) (*sender, error) {
	opts.Retry = retry.Options{Delay: -1}
	if opts.Outage == nil {
		opts.Outage = bufferedsender.FailSoon{}
	}
	opts.Logger = slog.New(slog.DiscardHandler) // the stories provoke its warnings
	return bufferedsender.New(indexer, &opts)
}
