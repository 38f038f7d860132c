package main

// The part to copy: the table as the source of a rebuild, a writer with a tap, and the rebuild.

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/hotels"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/rebuild"
)

const alias, oldIndex, newIndex = "hotels", "hotels-1", "hotels-2"

// Hotel is a row and a document.
type Hotel = hotels.Hotel

// definition returns the definition of an index whose text field has the given analyzer.
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

// truth is the source of the new index: all hotels, and the current state of some keys.
func truth(db *sql.DB) rebuild.Fill {
	return rebuild.Fill{
		All: func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for {
					page, err := hotels.Select(ctx, db, `WHERE id > ? ORDER BY id LIMIT 1000`, after)
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
			some, err := hotels.Keys(ctx, db, keys)
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

// writer returns a sender with a tap, which takes part in rebuilds. IdleValid is short here because a rebuild waits
// for it before it begins. A real program keeps the default of a minute: each tap reads the store once per IdleValid.
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

// write changes the table first and then the index, as the application must.
func write(ctx context.Context, db *sql.DB, sender *bufferedsender.BufferedSender[Hotel], upload, remove []Hotel) error {
	if err := hotels.Commit(ctx, db, upload, remove); err != nil {
		return err
	}
	if err := sender.UploadDocuments(ctx, upload...); err != nil {
		return fmt.Errorf("adding: %w", err)
	}
	return sender.DeleteDocuments(ctx, remove...)
}

// run performs the rebuild, as an administrator does.
func run(ctx context.Context, db *sql.DB, store rebuild.Store, indexes *search.IndexClient, logger *slog.Logger) (rebuild.Report, error) {
	next, err := definition(newIndex, "en.lucene")
	if err != nil {
		return rebuild.Report{}, err
	}
	var filling *bufferedsender.BufferedSender[Hotel]
	report, err := rebuild.Run(ctx, store, indexes, next, truth(db), rebuild.Options{
		Alias: alias, Writers: []string{"writer-0", "writer-1"}, Logger: logger,
		Settle: time.Second, // the emulator moves its readers at once; keep the default for a real service
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
