package main

// What your program would have: the table, the truth as a rebuild reads it, a writer with a tap, and the rebuild.

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/rebuild"
)

const alias, oldIndex, newIndex = "hotels", "hotels-1", "hotels-2"

// Hotel is a row and a document.
type Hotel struct {
	ID      string `json:"id" search:"key,filterable,sortable"`
	Text    string `json:"text" search:"searchable"`
	Version int64  `json:"version"`
}

// definition is that of an index whose texts go by an analyzer.
func definition(name string, analyzer models.AnalyzerName) (models.SearchIndex, error) {
	fields, err := models.FieldsOf[Hotel]()
	if err != nil {
		return models.SearchIndex{}, err
	}
	for i := range fields {
		if fields[i].Name == "text" {
			fields[i].Analyzer = analyzer
		}
	}
	return models.SearchIndex{Name: name, Fields: fields}, nil
}

// open opens the database. SQLite lets one write at a time, and is not fair to who waits: under writers that never
// pause a statement can wait in vain for longer than busy_timeout. One connection for all has them queue.
func open(file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(normal)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

const schema = `CREATE TABLE hotels (id TEXT PRIMARY KEY, text TEXT NOT NULL, version INTEGER NOT NULL)`

// truth is what the new index is filled with: all hotels, and those of some keys as they are now.
func truth(db *sql.DB) rebuild.Fill {
	return rebuild.Fill{
		All: func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for {
					page, err := hotels(ctx, db, `WHERE id > ? ORDER BY id LIMIT 1000`, after)
					for _, h := range page {
						if after = h.ID; !yield(upload(h)) {
							return
						}
					}
					if err != nil {
						yield(models.RawAction{}, err)
					}
					if err != nil || len(page) == 0 {
						return
					}
				}
			}
		},
		Keys: func(ctx context.Context, keys []string) (all []models.RawAction, err error) {
			args := make([]any, len(keys))
			for i, k := range keys {
				args[i] = k
			}
			some, err := hotels(ctx, db, `WHERE id IN (?`+strings.Repeat(", ?", len(keys)-1)+`)`, args...)
			for _, h := range some {
				action, err := upload(h)
				if err != nil {
					return nil, err
				}
				all = append(all, action)
			}
			return all, err
		},
	}
}

func upload(h Hotel) (models.RawAction, error) {
	text, err := json.Marshal(h)
	return models.RawAction{Key: h.ID, Type: models.ActionTypeUpload, Document: text}, err
}

// hotels returns the hotels that meet a condition.
func hotels(ctx context.Context, db *sql.DB, condition string, args ...any) (all []Hotel, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, text, version FROM hotels `+condition, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h Hotel
		if err := rows.Scan(&h.ID, &h.Text, &h.Version); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, rows.Err()
}

// writer makes a sender whose tap takes part in rebuilds. IdleValid is short here, so that nobody waits for a minute;
// leave it out in a program, since each tap asks the database so often.
func writer(ctx context.Context, store rebuild.Store, indexes *search.IndexClient, name string, logger *slog.Logger) (*bufferedsender.BufferedSender[Hotel], error) {
	tap, err := rebuild.NewTap(ctx, store, rebuild.TapOptions{
		Writer: name, Index: oldIndex, IdleValid: time.Second,
		Connect: func(index string) (rebuild.Indexer, error) { return indexes.Client(index) },
	})
	if err != nil {
		return nil, err
	}
	return bufferedsender.New(tap.Indexer(), &bufferedsender.Options[Hotel]{Tap: tap, AutoFlushInterval: 50 * time.Millisecond, Logger: logger})
}

// write is what an application does: the table first, then the index.
func write(ctx context.Context, db *sql.DB, sender *bufferedsender.BufferedSender[Hotel], upload, remove []Hotel) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	for _, h := range upload {
		if _, err := tx.ExecContext(ctx, `INSERT INTO hotels (id, text, version) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET text = ?2, version = ?3`, h.ID, h.Text, h.Version); err != nil {
			return err
		}
	}
	for _, h := range remove {
		if _, err := tx.ExecContext(ctx, `DELETE FROM hotels WHERE id = ?`, h.ID); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if err := sender.UploadDocuments(ctx, upload...); err != nil {
		return fmt.Errorf("adding: %w", err)
	}
	return sender.DeleteDocuments(ctx, remove...)
}

// run is what an administrator does.
func run(ctx context.Context, db *sql.DB, store rebuild.Store, indexes *search.IndexClient, logger *slog.Logger) (rebuild.Report, error) {
	next, err := definition(newIndex, "en.lucene")
	if err != nil {
		return rebuild.Report{}, err
	}
	var filling *bufferedsender.BufferedSender[Hotel]
	report, err := rebuild.Run(ctx, store, indexes, next, truth(db), rebuild.Options{
		Alias: alias, Writers: []string{"writer-0", "writer-1"}, Logger: logger,
		Settle: time.Second, // the emulator shows it at once; the service says "some seconds"
		Sender: func(index string) (rebuild.Sender, error) {
			client, err := indexes.Client(index)
			if err != nil {
				return nil, err
			}
			filling, err = bufferedsender.New(client, &bufferedsender.Options[Hotel]{Logger: logger})
			if err != nil {
				return nil, err
			}
			return filling.Raw(), nil
		},
	})
	if filling != nil {
		err = errors.Join(err, filling.Close(ctx))
	}
	return report, err
}
