package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// verify prints what has happened, and compares the index with the table.
func (s *story) verify(ctx context.Context) error {
	transactions, bookings, relayed := s.counts()
	fmt.Fprintf(s.out, "wrote     for %.1f s: %d transactions committed, %d rolled back, %d broken off; %d came too late and had nothing to do\n",
		s.wrote.Seconds(), transactions[committed], transactions[rolledBack], transactions[brokenOff], transactions[refused])
	if s.cfg.kill {
		fmt.Fprintf(s.out, "killed    %d writers, %d relays\n", s.kills[roleWrite], s.kills[roleRelay])
	}
	var requests, sent int
	for _, r := range s.service.Requests() {
		if r.Operation == searchtest.OpIndexDocuments {
			requests++
			sent += r.Actions
		}
	}
	lag, err := s.store.outbox.Lag(ctx, s.store.db)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "relayed   %d rows as %d actions in %d requests: %d folded, %d dead, %d failed, %d late\n",
		bookings[committed], sent, requests, relayed.Folded, lag.Dead, relayed.Failed, relayed.Late)
	fmt.Fprintf(s.out, "caught up %d rows were left when the writers had ended, and sent %.1f s later\n", s.rest, s.caughtUp.Seconds())

	table, err := s.store.all(ctx)
	if err != nil {
		return err
	}
	changes := s.service.Changes(indexName)
	index := s.service.Documents(indexName)
	problems := append(compare(table, index), haunted(changes)...)
	if lag.Dead > 0 {
		problems = append(problems, fmt.Sprintf("%d rows have become dead letters", lag.Dead))
	}
	if len(problems) > 0 {
		fmt.Fprintln(s.out, "index == table: no")
		return fmt.Errorf("the index is wrong in %d places: %s", len(problems), shorten(problems))
	}
	keys := make(map[string]bool)
	for _, c := range changes {
		keys[c.Key] = true
	}
	fmt.Fprintf(s.out, "index == table: yes. %d bookings of %d that there ever were; nothing of the %d that did not commit was ever in the index\n",
		len(index), len(keys), bookings[rolledBack]+bookings[brokenOff])
	return nil
}

// counts are those of all workers, by how transactions have ended.
func (s *story) counts() (transactions, bookings map[string]int, relayed outbox.Stats) {
	transactions, bookings = make(map[string]int), make(map[string]int)
	for _, p := range s.posts {
		for end, n := range p.transactions {
			transactions[end] += n
			bookings[end] += p.bookings[end]
		}
		add(&relayed, p.relayed)
	}
	return transactions, bookings, relayed
}

// enough returns an error if too little has happened to prove anything.
func (s *story) enough() error {
	transactions, _, _ := s.counts()
	for _, end := range []string{committed, rolledBack, brokenOff} {
		if transactions[end] == 0 {
			return errors.New("too little has happened to prove anything: no transaction was " + end)
		}
	}
	return nil
}

// compare returns what is wrong with an index, key by key.
func compare(table map[string]Booking, index map[string]json.RawMessage) (problems []string) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		content, there := index[key]
		if !there {
			problems = append(problems, key+": the index does not have it")
			continue
		}
		var got Booking
		if err := json.Unmarshal(content, &got); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", key, err))
		} else if want := table[key]; got != want {
			problems = append(problems, fmt.Sprintf("%s: the table has %+v and the index %+v", key, want, got))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(index)) {
		if _, there := table[key]; !there {
			problems = append(problems, key+": only the index has it")
		}
	}
	return problems
}

// haunted returns what the index was told of transactions that did not commit, also if it has been corrected since.
func haunted(changes []searchtest.Change) (problems []string) {
	for _, c := range changes {
		if strings.Contains(string(c.Document), ghost) {
			problems = append(problems, fmt.Sprintf("%s: request %d had a booking that was not committed", c.Key, c.Request))
		}
	}
	return problems
}
