package digesttree_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// hotel has a version that increases with each change.
type hotel struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"`
}

// hotels is the source, usually a table.
type hotels []models.Row

func (h hotels) Scan(context.Context, string, string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for _, row := range h {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (h hotels) Lookup(_ context.Context, keys []string) (rows []models.Row, err error) {
	for _, key := range keys {
		for _, row := range h {
			if row.Key == key {
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

// A sender's handlers report confirmed changes to the tree. A comparison with the source then finds lost changes.
func Example() {
	folder, err := os.MkdirTemp("", "tree") // a program uses a fixed one
	must(err)
	defer os.RemoveAll(folder)
	ctx := context.Background()
	tree, err := digesttree.Open(folder, &digesttree.Options{Empty: true}) // the index is new
	must(err)

	handlers := digesttree.Follow(tree, func(h hotel) int64 { return h.Revision }) // for bufferedsender.Options
	for _, h := range []hotel{{"1", 7}, {"2", 3}} {                                // as a sender's handlers do
		handlers.ActionCompleted(ctx, &events.ActionCompleted[hotel]{Key: h.ID, Action: models.UploadAction(h)})
	}

	source := hotels{{Key: "1", Version: 7}, {Key: "2", Version: 4}, {Key: "3", Version: 1}}
	found, err := tree.Compare(ctx, source, 500*time.Millisecond)
	must(err)
	for _, d := range found.Keys {
		fmt.Println(d.Key, d.MissingHere, d.Here, d.There)
	}
	must(tree.Close(ctx))
	// Unordered output:
	// 2 false 3 4
	// 3 true 0 1
}

// A tree for an index with documents, or a due tree, is built from a scan of the index.
func ExampleTree_Rebuild() {
	folder, err := os.MkdirTemp("", "tree")
	must(err)
	defer os.RemoveAll(folder)
	ctx := context.Background()
	tree, err := digesttree.Open(folder, &digesttree.Options{SegmentBits: 4})
	must(err)

	index := hotels{{Key: "1", Version: 7}, {Key: "2", Version: 3}} // usually a *search.Rows
	if tree.Stats().Due > 0 {
		segments, rows, err := tree.Rebuild(ctx, index.Scan(ctx, "", ""), 10*time.Millisecond)
		must(err)
		fmt.Println("built", segments, "segments of", rows, "rows")
	}
	found, err := tree.Compare(ctx, index, 500*time.Millisecond)
	must(err)
	fmt.Println(len(found.Keys), "differ;", tree.Stats().Due, "due")
	must(tree.Close(ctx))
	// Output:
	// built 16 segments of 2 rows
	// 0 differ; 0 due
}
