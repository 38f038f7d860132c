// Command projection keeps an index equal to a join: a document has a hotel, its rooms and its reviews, from three
// tables. A change of any of the tables rebuilds the document.
//
//	go run ./samples/projection              # SQLite in a temporary file, emulated service
//
// loader.go is the part to copy: triggers record the key of the changed hotel within the same transaction, and a
// loader reads many hotels at once. story.go makes changes, prints documents, and checks after each change that index
// and tables agree.
package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

func main() { stage.Main("projection", program) }

// howMany is the number of hotels at the start.
const howMany = 500

func program(p *stage.Program) func(context.Context) error {
	logger := p.Logger()
	return func(ctx context.Context) error { return tell(ctx, logger, p.Out) }
}

// change is one transaction on the tables. It does not touch documents.
type change struct {
	what      string
	do        func(ctx context.Context, tx *sql.Tx) error
	documents int     // documents to rebuild
	show      []int64 // keys of documents to print
}

var errSecondThoughts = errors.New("rolled back on purpose")

// fresh is the number of a new hotel.
const fresh = howMany + 1

// changes are the steps of the story.
var changes = []change{
	{"hotels: number 1 has another name", statements(`UPDATE hotels SET name = 'The Ritz' WHERE id = 1`), 1, []int64{1}},
	{"rooms: a suite for 900 in hotel 1", statements(`INSERT INTO rooms (id, hotel_id, kind, price) VALUES (900001, 1, 'suite', 900)`), 1, []int64{1}},
	{"rooms: it moves from hotel 1 to hotel 2", statements(`UPDATE rooms SET hotel_id = 2 WHERE id = 900001`), 2, []int64{1, 2}},
	{
		"reviews: three of hotel 2 in one transaction", statements(
			`INSERT INTO reviews (id, hotel_id, stars, words) VALUES (900001, 2, 5, 'grand'), (900002, 2, 1, 'cold')`,
			`INSERT INTO reviews (hotel_id, stars, words) VALUES (2, 4, 'fine')`), 1, []int64{2},
	},
	{"reviews: one of them is deleted", statements(`DELETE FROM reviews WHERE id = 900002`), 1, []int64{2}},
	{"rooms: hotel 2 loses the suite", statements(`DELETE FROM rooms WHERE id = 900001`), 1, []int64{2}},
	{"rooms: all prices of all hotels, with one statement", statements(`UPDATE rooms SET price = price * 11 / 10`), howMany, []int64{1}},
	{
		"all three tables, and a rollback: nothing has happened", func(ctx context.Context, tx *sql.Tx) error {
			return cmp.Or(statements(`DELETE FROM rooms`, `DELETE FROM reviews`, `DELETE FROM hotels`)(ctx, tx), errSecondThoughts)
		}, 0, []int64{1},
	},
	{
		"all three tables: a hotel opens", statements(
			fmt.Sprintf(`INSERT INTO hotels (id, name, city) VALUES (%d, 'The Savoy', 'London')`, fresh),
			fmt.Sprintf(`INSERT INTO rooms (id, hotel_id, kind, price) VALUES (900002, %d, 'double', 400)`, fresh),
			fmt.Sprintf(`INSERT INTO reviews (hotel_id, stars, words) VALUES (%d, 5, 'new')`, fresh)), 1, []int64{fresh},
	},
	{"hotels: number 4 is number 900004 from now on", statements(`UPDATE hotels SET id = 900004 WHERE id = 4`), 2, []int64{4, 900004}},
	{"hotels: number 3 is deleted, its rooms and reviews with it", statements(`DELETE FROM hotels WHERE id = 3`), 1, []int64{3}},
}

// statements returns a change that runs SQL statements.
func statements(all ...string) func(ctx context.Context, tx *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		for _, s := range all {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}
}
