package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// verify prints what has happened, and compares the index with the table.
func (s *story) verify(ctx context.Context, interrupted bool) error {
	transactions, bookings := s.counts()
	fmt.Fprintf(s.out, "wrote     for %.1f s: %d transactions committed, %d rolled back, %d broken off; %d came too late and had nothing to do\n",
		s.wrote.Seconds(), transactions[committed], transactions[rolledBack], transactions[brokenOff], transactions[refused])
	if s.kill {
		fmt.Fprintf(s.out, "killed    %d writers, %d relays\n", s.kills[roleWrite], s.kills[roleRelay])
	}
	requests, sent := s.service.Sent()
	lag, err := s.store.outbox.Lag(ctx, s.store.db)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "relayed   %d rows as %d actions in %d requests: what changes often is folded\n", bookings[committed], sent, requests)
	fmt.Fprintf(s.out, "caught up %d rows were left when the writers had ended, and sent %.1f s later\n", s.rest, s.caughtUp.Seconds())

	table, err := s.store.all(ctx)
	if err != nil {
		return err
	}
	index, err := stage.Documents[Booking](s.service, indexName)
	if err != nil {
		return err
	}
	changes := s.service.Emulator.Changes(indexName)
	problems := append(stage.Differences(table, index), haunted(changes)...)
	if lag.Dead > 0 {
		problems = append(problems, fmt.Sprintf("%d rows have become dead letters", lag.Dead))
	}
	if err := stage.Problems(problems); err != nil {
		fmt.Fprintln(s.out, "index == table: no")
		return err
	}
	keys := make(map[string]bool)
	for _, c := range changes {
		keys[c.Key] = true
	}
	fmt.Fprintf(s.out, "index == table: yes. %d bookings of %d that there ever were; nothing of the %d that did not commit was ever in the index\n",
		len(index), len(keys), bookings[rolledBack]+bookings[brokenOff])
	for _, end := range []string{committed, rolledBack, brokenOff} {
		if transactions[end] == 0 && !interrupted {
			return errors.New("too little has happened to prove anything: no transaction was " + end)
		}
	}
	return nil
}

// counts are those of all workers, by how transactions have ended.
func (s *story) counts() (transactions, bookings map[string]int) {
	transactions, bookings = make(map[string]int), make(map[string]int)
	for _, p := range s.posts {
		for end, n := range p.transactions {
			transactions[end] += n
			bookings[end] += p.bookings[end]
		}
	}
	return transactions, bookings
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

// all returns the truth: what the index has to hold.
func (s *store) all(ctx context.Context) (map[string]Booking, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, hotel, room, night, guest FROM bookings`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[string]Booking)
	for rows.Next() {
		var b Booking
		if err := rows.Scan(&b.ID, &b.Hotel, &b.Room, &b.Night, &b.Guest); err != nil {
			return nil, err
		}
		found[b.ID] = b
	}
	return found, rows.Err()
}

// createSchema makes the schema on a server, and returns what removes it.
func (p place) createSchema(ctx context.Context) (remove func() error, err error) {
	s, err := p.open()
	if err != nil {
		return nil, err
	}
	if _, err := s.db.ExecContext(ctx, "CREATE SCHEMA "+p.schema); err != nil {
		return nil, errors.Join(fmt.Errorf("making the schema %s: %w", p.schema, err), s.db.Close())
	}
	return func() error {
		_, err := s.db.ExecContext(context.Background(), "DROP SCHEMA "+p.schema+" CASCADE")
		return errors.Join(err, s.db.Close())
	}, nil
}
