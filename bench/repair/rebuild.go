package repair

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/rebuild"
)

func rebuildAtOnce(ctx context.Context, p *plan, t *figures.Table) error {
	return rebuildIndex(ctx, p, 0, t)
}

func rebuildRemote(ctx context.Context, p *plan, t *figures.Table) error {
	return rebuildIndex(ctx, p, 20*time.Millisecond, t)
}

// rebuildIndex rebuilds an index with the same definition, which takes as long as any other. takes is added to each
// request. The plain load also goes into an index next to the first one, because the emulator's memory is this
// process's: otherwise only the rebuild would pay for the garbage collection of two indexes.
//
//archtest:long owed: a setup, three loads and a table
func rebuildIndex(ctx context.Context, p *plan, takes time.Duration, t *figures.Table) (err error) {
	e, err := empty()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	if err := e.load(ctx, p.documents, nil); err != nil {
		return err
	}
	indexes, err := e.indexClient()
	if err != nil {
		return err
	}
	e.slow.Store(int64(takes))
	loading, err := e.loadBeside(ctx, indexes, p.documents)
	if err != nil {
		return err
	}
	next, err := indexes.GetIndex(ctx, "items", nil)
	if err != nil {
		return err
	}
	next.Name = "items-2"
	if _, err := indexes.CreateAlias(ctx, models.Alias{Name: "all", Indexes: []string{"items"}}, nil); err != nil {
		return err
	}
	store := rebuild.NewMemory()
	tap, err := rebuild.NewTap(ctx, store, rebuild.TapOptions{
		Writer: "writer", Index: "items", IdleValid: time.Second,
		Connect: func(index string) (rebuild.Indexer, error) { return indexes.Client(index) },
	})
	if err != nil {
		return err
	}
	writer, err := bufferedsender.New(tap.Indexer(), &bufferedsender.Options[item]{Tap: tap, Logger: quiet, AutoFlushInterval: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	ending, end := context.WithCancel(ctx)
	var group sync.WaitGroup
	var writing error
	group.Go(func() {
		for i := 0; ending.Err() == nil && writing == nil; i++ {
			writing = writer.UploadDocuments(ctx, itemOf(i%p.documents))
			if i%100 == 0 {
				time.Sleep(50 * time.Millisecond) // two thousand documents per second
			}
		}
	})
	var filling *bufferedsender.BufferedSender[item]
	began := time.Now()
	report, err := rebuild.Run(ctx, store, indexes, next, generated{p.documents}.fill(), rebuild.Options{
		Alias: "all", Writers: []string{"writer"}, Always: true, Settle: -1, Logger: quiet,
		Sender: func(index string) (rebuild.Sender, error) {
			client, err := indexes.Client(index)
			if err != nil {
				return nil, err
			}
			filling, err = bufferedsender.New(client, &bufferedsender.Options[item]{Logger: quiet})
			return filling.Raw(), err
		},
	})
	took := time.Since(began)
	end()
	group.Wait()
	if filling != nil {
		err = errors.Join(err, filling.Close(ctx))
	}
	if err = errors.Join(err, writing, writer.Close(ctx)); err != nil {
		return err
	}
	client, err := indexes.Client(report.Index)
	if err != nil {
		return err
	}
	if n, err := client.DocumentCount(ctx, nil); err != nil || n != int64(p.documents) {
		return errors.Join(err, fmt.Errorf("the new index has %d documents of %d", n, p.documents))
	}
	t.Add("rebuilding, without 2 s of waiting / a plain load", figures.AtMost(1.2), (took-2*time.Second).Seconds()/loading.Seconds())
	for _, closed := range report.Closed {
		t.Add("writers held: s", figures.AtMost(1), closed.Seconds())
	}
	t.Add("a plain load: s", figures.Informs, loading.Seconds())
	return nil
}

// loadBeside loads the documents into another index, which it then drops, and returns the duration.
func (e *emulated) loadBeside(ctx context.Context, indexes *search.IndexClient, n int) (took time.Duration, err error) {
	definition, err := indexes.GetIndex(ctx, "items", nil)
	if err != nil {
		return 0, err
	}
	definition.Name = "plain"
	if _, err := indexes.CreateIndex(ctx, definition, nil); err != nil {
		return 0, err
	}
	client, err := indexes.Client(definition.Name)
	if err != nil {
		return 0, err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[item]{Logger: quiet})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for i := 0; i < n && err == nil; i++ {
		err = sender.UploadDocuments(ctx, itemOf(i))
	}
	err = errors.Join(err, sender.Close(ctx))
	took = time.Since(began)
	err = errors.Join(err, indexes.DeleteIndex(ctx, definition.Name, nil))
	runtime.GC() // collect the dropped index
	return took, err
}

// fill returns the generated rows as a rebuild.Fill.
func (g generated) fill() rebuild.Fill {
	return rebuild.Fill{
		All: func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for i := g.first(after); i < g.n && ctx.Err() == nil; i++ {
					if a, err := upload(i); !yield(a, err) {
						return
					}
				}
			}
		},
		Keys: g.Read,
	}
}

// indexClient returns a client for definitions.
func (e *emulated) indexClient() (*search.IndexClient, error) {
	return search.NewIndexClientWithKey(e.service.URL(), e.credential(), &search.ClientOptions{ClientOptions: e.options()})
}
