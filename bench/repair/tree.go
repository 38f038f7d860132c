package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/buffered"
	"github.com/go-azsearch/azsearch/bench/internal/child"
	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/events"
)

// keepTree sends all documents through senders without a handler, with one that does nothing, and with a digest tree,
// alternating, each twice, and compares the processor time of this process. The tree has all keys beforehand, and
// keepTree waits until it has folded its changes.
func keepTree(ctx context.Context, p *plan, t *figures.Table) (err error) {
	dir, err := os.MkdirTemp("", "tree")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sink, err := child.StartSink(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sink.Stop()) }()
	tree, err := digesttree.Open(filepath.Join(dir, "tree"), &digesttree.Options{Empty: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tree.Close(context.Background())) }()
	keys := make([]string, p.documents) // in no order, like real changes
	for i := range keys {
		n := i * 7_919 % p.documents
		keys[i] = fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n)
		tree.Confirmed(keys[i], 0)
		if i%50_000 == 0 {
			if err := tree.Sync(ctx); err != nil {
				return err
			}
		}
	}
	if err := folded(ctx, tree); err != nil {
		return err
	}
	var cpu [3]float64
	before := tree.Stats().Folds
	idle := events.Handlers[item]{ActionCompleted: func(context.Context, *events.ActionCompleted[item]) {}}
	for turn := range 6 {
		handlers := []events.Handlers[item]{{}, idle, digesttree.Follow(tree, func(i item) int64 { return i.Version })}[turn%3]
		var clock measure.Clock
		clock.Start()
		if err := sendAll(ctx, sink, keys, bufferedsender.Options[item]{Handlers: handlers}); err != nil {
			return err
		}
		if err := folded(ctx, tree); err != nil {
			return err
		}
		cpu[turn%3] += clock.Stop().CPUSeconds
	}
	s := tree.Stats()
	if s.Dropped+s.Refused > 0 || s.Err != nil {
		return fmt.Errorf("the tree did not get every change: %+v", s)
	}
	if cpu[0] > 0 { // CPU time is measured on this system
		t.Add("CPU of a sender with a tree / with a handler of events that does nothing", figures.AtMost(1.1), cpu[2]/cpu[1])
		t.Add("CPU of a sender with a tree / without any handler", figures.AtMost(1.1), cpu[2]/cpu[0])
	}
	document := 1e6 / 2 / float64(len(keys))
	t.Add("CPU of a document without: µs", figures.Informs, cpu[0]*document)
	t.Add("more with a handler: µs", figures.Informs, (cpu[1]-cpu[0])*document)
	t.Add("more than that with a tree: µs", figures.Informs, (cpu[2]-cpu[1])*document)
	t.Add("folds for each time that all keys change", figures.Informs, float64(s.Folds-before)/2)
	return nil
}

// folded waits until the tree has nothing to fold.
func folded(ctx context.Context, tree *digesttree.Tree) error {
	for {
		if err := tree.Sync(ctx); err != nil {
			return err
		}
		if s := tree.Stats(); s.PendingBytes <= max(s.FileBytes, 4<<20) || s.PendingBytes <= 128<<20 && s.FileBytes > 128<<20 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func sendAll(ctx context.Context, sink *child.Sink, keys []string, opts bufferedsender.Options[item]) error {
	opts.Logger = quiet
	sender, err := buffered.New(sink.Address, &opts)
	if err != nil {
		return err
	}
	filler := strings.Repeat("x", 600)
	docs := make([]item, 0, 100)
	for i, key := range keys {
		if docs = append(docs, item{ID: key, Version: 1, Text: filler}); len(docs) == cap(docs) || i+1 == len(keys) {
			if err := sender.UploadDocuments(ctx, docs...); err != nil {
				return err
			}
			docs = docs[:0]
		}
	}
	return sender.Close(ctx)
}
