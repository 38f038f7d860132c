package rebuild_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/rebuild"
)

// A table is the source of truth. All reads it in pages, each after the last key of the previous one, so no query
// lasts as long as the sender takes. The statements are for SQLite; with PostgreSQL use $1 and id = ANY ($1).
func ExampleFill() {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE hotels (id TEXT PRIMARY KEY, name TEXT NOT NULL); INSERT INTO hotels VALUES ('1', 'Ritz'), ('2', 'Savoy'), ('3', 'Plaza')`); err != nil {
		fmt.Println(err)
		return
	}
	const page = 2 // a real program uses 1000
	hotels := func(ctx context.Context, condition string, args ...any) (all []models.RawAction, err error) {
		rows, err := db.QueryContext(ctx, `SELECT id, name FROM hotels `+condition, args...)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var h Hotel
			if err := rows.Scan(&h.ID, &h.Name); err != nil {
				return nil, err
			}
			document, err := json.Marshal(h)
			if err != nil {
				return nil, err
			}
			all = append(all, models.RawAction{Key: h.ID, Type: models.ActionTypeUpload, Document: document})
		}
		return all, rows.Err()
	}
	fill := rebuild.Fill{
		All: func(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for {
					some, err := hotels(ctx, `WHERE id > ? ORDER BY id LIMIT ?`, after, page)
					if err != nil {
						yield(models.RawAction{}, err)
						return
					}
					for _, a := range some {
						if after = a.Key; !yield(a, nil) {
							return
						}
					}
					if len(some) < page {
						return
					}
				}
			}
		},
		Keys: func(ctx context.Context, keys []string) ([]models.RawAction, error) {
			args := make([]any, len(keys))
			for i, key := range keys {
				args[i] = key
			}
			return hotels(ctx, `WHERE id IN (?`+strings.Repeat(`, ?`, len(keys)-1)+`)`, args...)
		},
	}

	for a, err := range fill.All(context.Background(), "1") { // as a resumed Run does
		fmt.Println(string(a.Document), err)
	}
	some, err := fill.Keys(context.Background(), []string{"1", "4"}) // row 4 was deleted, so it is missing
	fmt.Println(len(some), some[0].Key, err)
	// Output:
	// {"id":"2","name":"Savoy"} <nil>
	// {"id":"3","name":"Plaza"} <nil>
	// 1 1 <nil>
}
