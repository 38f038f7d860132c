package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// caller is one of the clients of the demonstration. Each note has an id of its
// own, also one that is sent again: so what was reported about each can be checked.
type caller struct {
	client    *http.Client
	url, name string
	reported  *ledger
	sent      int
}

// write sends notes, one request after the other, until ctx ends.
func (c *caller) write(ctx context.Context) {
	for ctx.Err() == nil {
		wait := c.call(ctx, c.notes())
		if wait == 0 {
			wait = rand.N(40 * time.Millisecond)
		} else {
			wait += rand.N(wait / 2) // not all at the same moment
		}
		_ = pause(ctx, wait)
	}
}

// notes makes one to three notes; one in a hundred is bad.
func (c *caller) notes() []Note {
	notes := make([]Note, 1+rand.IntN(3))
	for i := range notes {
		c.sent++
		notes[i] = Note{ID: fmt.Sprintf("%s-%d", c.name, c.sent), Author: c.name, Text: fmt.Sprintf("note %d of %s", c.sent, c.name)}
		switch rand.IntN(200) {
		case 0: // the service rejects it: no term of a filterable field may be so long
			notes[i].Author = strings.Repeat("x", 40_000)
		case 1: // the sender refuses it
			notes[i].ID += " is no legal key"
		}
	}
	return notes
}

// call sends notes, writes down what is answered, and returns how long it was
// asked to wait.
func (c *caller) call(ctx context.Context, notes []Note) (wait time.Duration) {
	body, err := json.Marshal(notes)
	if err != nil {
		panic(err) // strings
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/notes", bytes.NewReader(body))
	if err != nil {
		panic(err) // the URL of our own server
	}
	resp, err := c.client.Do(req)
	if err != nil {
		c.reported.nothing(notes)
		return 100 * time.Millisecond
	}
	defer resp.Body.Close()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		c.reported.nothing(notes)
		return 0
	}
	c.reported.add(resp.StatusCode, notes, a)
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // none is 0
	return time.Duration(seconds) * time.Second
}
