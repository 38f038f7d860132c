package main

import (
	"errors"
	"sync"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// deadLetters is where records go that the index will never take. A real one is
// another topic. When write has returned nil the record is safe, and its offset
// may be committed. A record can come twice, if the process dies in between.
type deadLetters struct {
	mu      sync.Mutex // guards the fields below
	records map[place]deadLetter
}

type place struct {
	partition int32
	offset    int64
}

// deadLetter is what somebody needs who mends it.
type deadLetter struct {
	Record Record
	Reason string
	Error  string
}

func (d *deadLetters) write(r Record, why error) error {
	letter := deadLetter{Record: r, Reason: "refused by the sender", Error: why.Error()}
	var failed *bufferedsender.ActionError
	if errors.As(why, &failed) {
		letter.Reason = failed.Reason.String()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.records == nil {
		d.records = map[place]deadLetter{}
	}
	d.records[place{r.Partition, r.Offset}] = letter
	return nil
}

func (d *deadLetters) has(r Record) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.records[place{r.Partition, r.Offset}]
	return ok
}

func (d *deadLetters) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.records)
}
