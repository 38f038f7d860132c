package scale

import (
	"context"
	"errors"

	"github.com/go-azsearch/azsearch/bench/internal/buffered"
	"github.com/go-azsearch/azsearch/bench/internal/corpus"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// task is the work of one process: one sender sends the documents of a step.
type task struct {
	Documents int    `json:"documents"`
	Producers int    `json:"producers"`
	InFlight  int    `json:"inFlight"`
	Endpoint  string `json:"endpoint"`
}

// measurement is the result of a task.
type measurement struct {
	measure.Usage
	// RSS is the memory in bytes before the first document and after each twentieth of them; 0: unknown.
	RSS [sampleCount + 1]int64 `json:"rss"`
	// Accepted and Completed are the final counts of the sender.
	Accepted  int64 `json:"accepted"`
	Completed int64 `json:"completed"`
}

const (
	// batchBytes is the maximum size of a batch, as in compare.
	batchBytes = 1_000_000
	// contents is the number of different documents, apart from their keys.
	contents = 256
	// keysAtOnce is the number of keys per allocation. Generating all keys in advance, as compare does, would make
	// the measured memory grow with the documents.
	keysAtOnce = 1000
)

// send sends the documents and returns when they are all settled.
func (t task) send(ctx context.Context) (*measurement, error) {
	w := corpus.New(contents, contents, corpus.NewHotel, func(d *corpus.Hotel, key string) { d.ID = key })
	atOnce := min(keysAtOnce, max(1, t.Documents/sampleCount)) // so that samples are on time
	var clock measure.Clock
	clock.Start()
	samples := newSampler(t.Documents)
	sender, err := buffered.NewByBytes[corpus.Hotel](t.Endpoint, batchBytes, t.InFlight)
	if err != nil {
		return nil, err
	}
	err = corpus.Produce(t.Producers, t.Documents, func(from, to int) error {
		var doc corpus.Hotel
		for from < to {
			keys := corpus.KeysOf(from, min(from+atOnce, to))
			for i := range keys.Len() {
				w.DocumentWithKey(from+i, keys.At(i), &doc)
				if err := sender.UploadDocuments(ctx, doc); err != nil {
					return err
				}
			}
			samples.add(keys.Len())
			from += keys.Len()
		}
		return nil
	})
	stats, closing := buffered.Finish(ctx, sender)
	if err := errors.Join(err, closing); err != nil {
		return nil, err
	}
	return &measurement{Usage: clock.Stop(), RSS: samples.rss, Accepted: stats.Accepted, Completed: stats.Completed}, nil
}
