package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/search"
)

// countPatience is how long the service may take to show what it has accepted.
const countPatience = 60 * time.Second

// awaitCount asks for the number of documents until it is one of the numbers
// from least to most, or patience ends; the service counts with a delay. It
// returns the last answer.
func awaitCount(ctx context.Context, client *search.Client, least, most int64, patience time.Duration) (int64, error) {
	deadline := time.Now().Add(patience)
	for {
		count, err := client.DocumentCount(ctx, nil)
		if err != nil || least <= count && count <= most || time.Now().After(deadline) {
			return count, err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return count, ctx.Err()
		}
	}
}

// lookUp gets each sample by its key and returns what differs from the source.
func lookUp(ctx context.Context, client *search.Client, samples []sample) (problems []string) {
	for _, want := range samples {
		got, err := search.GetDocument[declarations.Declaration](ctx, client, want.doc.Key, nil)
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("looking up %s %s: %v", want.doc.Package, want.doc.Name, err))
		case got != want.doc:
			problems = append(problems, fmt.Sprintf("%s %s differs: the source says %+v, the service says %+v", want.doc.Package, want.doc.Name, want.doc, got))
		}
	}
	return problems
}

// verify asks the service whether it has what the sender says it has.
func (r *report) verify(ctx context.Context, cfg config, svc *service, client *search.Client, before int64, samples []sample) {
	// A document that failed although a request with it was cut off may be there.
	least, most := r.Completed, r.Completed+r.Unknown
	patience := countPatience
	if svc.emulator != nil {
		patience = 0
	}
	count, err := awaitCount(ctx, client, least, most, patience)
	switch {
	case err != nil:
		r.problem("counting the documents: %v", err)
	case count < least || count > most:
		r.Count = count
		r.problem("the service counts %d documents, %d were completed", count, r.Completed)
		if before > 0 {
			r.problem("the index held %d documents before: choose another one with -index", before)
		}
	default:
		r.Count = count
	}
	r.LookedUp = len(samples)
	r.Problems = append(r.Problems, lookUp(ctx, client, samples)...)
	if r.Failed > 0 && !cfg.faults {
		r.problem("%d documents failed", r.Failed)
	}
}
