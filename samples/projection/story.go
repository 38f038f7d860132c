package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
)

// story is the state of the run.
type story struct {
	out     io.Writer
	db      *sql.DB
	outbox  *outbox.Table
	service *stage.Service
	client  *search.Client
	loader  *loader
	relay   *projection

	loaded, queries int64 // after the previous step
}

func tell(ctx context.Context, logger *slog.Logger, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "projection")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := open(filepath.Join(dir, "hotels.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	service := stage.Emulate(nil)
	defer service.Close()
	s := &story{out: out, db: db, outbox: newOutbox(), service: service, loader: &loader{db: db}}
	if s.client, err = stage.Open[Hotel](ctx, service, indexName); err != nil {
		return err
	}
	if err := s.fill(ctx); err != nil {
		return err
	}
	if s.relay, err = project(s.loader, s.outbox, s.client, logger); err != nil {
		return err
	}
	return errors.Join(s.tell(ctx), s.relay.close())
}

// fill creates the tables as they are before the index exists, and then the outbox with its triggers.
func (s *story) fill(ctx context.Context) error {
	numbers := `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ` + strconv.Itoa(howMany) + `) `
	tables := append(slices.Clone(schema),
		`INSERT INTO hotels (id, name, city) `+numbers+`SELECT i, 'Hotel ' || i, json_extract('["Rome","Oslo","Lima"]', '$[' || (i % 3) || ']') FROM n`,
		`INSERT INTO rooms (hotel_id, kind, price) `+numbers+`SELECT i, k.value, 60 + i * 7 % 50 + 40 * k.key FROM n, json_each('["single","double","suite"]') k WHERE k.key <= i % 4`,
		`INSERT INTO reviews (hotel_id, stars, words) `+numbers+`SELECT i, 1 + (i * 3 + k.value) % 5, 'as expected' FROM n, json_each('[1,2,3,4,5]') k WHERE k.value <= i % 6`)
	if err := s.transaction(ctx, statements(tables...)); err != nil {
		return err
	}
	// Triggers first: they record every later change, and the backfill has every earlier one.
	if err := follow(ctx, s.db, s.outbox); err != nil {
		return err
	}
	return backfill(ctx, s.db, s.outbox)
}

func (s *story) tell(ctx context.Context) error {
	if err := s.follows(ctx, fmt.Sprintf("the tables have %d hotels from before, which are backfilled", howMany), howMany, 1); err != nil {
		return err
	}
	for _, c := range changes {
		if err := s.transaction(ctx, c.do); err != nil && !errors.Is(err, errSecondThoughts) {
			return fmt.Errorf("%s: %w", c.what, err)
		}
		if err := s.follows(ctx, c.what, c.documents, c.show...); err != nil {
			return err
		}
	}
	return s.repair(ctx)
}

// transaction runs a change in a transaction.
func (s *story) transaction(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := do(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// repair restores a document that was deleted directly from the index.
func (s *story) repair(ctx context.Context) error {
	if _, err := search.DeleteDocumentsByKey(ctx, s.client, "id", []string{"7"}, nil); err != nil {
		return err
	}
	if _, there := s.service.Emulator.Document(indexName, "7"); there {
		return errors.New("the document was deleted, and is still there")
	}
	err := s.transaction(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return outbox.WriteKeys(ctx, tx, s.outbox, "7")
	})
	if err != nil {
		return err
	}
	return s.follows(ctx, "a document is deleted from the index; WriteKeys restores it", 1, 7)
}

// follows waits until the outbox is empty, prints the documents in show, and compares all documents with the tables.
// At least the given number must have been rebuilt.
func (s *story) follows(ctx context.Context, what string, documents int, show ...int64) error {
	if err := s.empty(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	loaded, queries := s.relay.relay.Stats().Loaded, s.loader.queries.Load()
	fmt.Fprintf(s.out, "\n%s\n", what)
	for _, id := range show {
		content, there := s.service.Emulator.Document(indexName, keyOf(id))
		if !there {
			content = []byte("none")
		}
		fmt.Fprintf(s.out, "  %6d  %s\n", id, content)
	}
	want, err := truth(ctx, s.db)
	if err != nil {
		return err
	}
	has, err := stage.Documents[Hotel](s.service, indexName)
	if err != nil {
		return err
	}
	if err := stage.Problems(stage.Differences(want, has)); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	made := loaded - s.loaded
	if made < int64(documents) || documents == 0 && made > 0 {
		return fmt.Errorf("%s: %d documents should be rebuilt, got %d", what, documents, made)
	}
	fmt.Fprintf(s.out, "  index == join: yes, for all %d hotels; documents made: %d, with %d queries\n", len(want), made, queries-s.queries)
	s.loaded, s.queries = loaded, queries
	return nil
}

// empty waits until the outbox is empty: a row is deleted after the service has confirmed it.
func (s *story) empty(ctx context.Context) error {
	return stage.Until(ctx, 30*time.Second, 5*time.Millisecond, func() (bool, error) {
		lag, err := s.outbox.Lag(ctx, s.db)
		if err == nil && lag.Dead > 0 {
			err = fmt.Errorf("%d rows were refused", lag.Dead)
		}
		return err == nil && lag.Rows == 0, err
	})
}

// truth returns the expected documents. The database computes the join per hotel: slower than the loader and
// independent of it, so that both cannot have the same mistake.
func truth(ctx context.Context, db *sql.DB) (map[string]Hotel, error) {
	all := make(map[string]Hotel)
	err := each(ctx, db, `SELECT json_object('id', CAST(h.id AS TEXT), 'name', h.name, 'city', h.city,
			'rooms', json((SELECT json_group_array(json_object('id', r.id, 'kind', r.kind, 'price', r.price) ORDER BY r.id) FROM rooms r WHERE r.hotel_id = h.id)),
			'cheapest', coalesce((SELECT min(price) FROM rooms r WHERE r.hotel_id = h.id), 0),
			'reviews', (SELECT count(*) FROM reviews v WHERE v.hotel_id = h.id),
			'stars', coalesce((SELECT sum(stars) * 1.0 / count(*) FROM reviews v WHERE v.hotel_id = h.id), 0))
		FROM hotels h`, func(rows *sql.Rows) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		var h Hotel
		err := json.Unmarshal(text, &h)
		all[h.ID] = h
		return err
	})
	return all, err
}
