package hints_test

import (
	"context"
	"fmt"
	"os"

	"github.com/go-azsearch/azsearch/bufferedsender/hints"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// What was given up in an outage is compared by the next process.
func Example() {
	folder, err := os.MkdirTemp("", "hints") // a program has a fixed one
	must(err)
	defer os.RemoveAll(folder)
	ctx := context.Background()

	set, err := hints.Open(folder, nil)
	must(err)
	must(set.Add("hotels", "17", "42"))
	must(set.Add("hotels", "42"))
	must(set.Close(ctx))

	set, err = hints.Open(folder, nil)
	must(err)
	for _, index := range set.Indexes() {
		batch := set.Take(index, 1000)
		fmt.Println("compare", batch.Index, batch.Keys)
		set.Done(batch)
	}
	fmt.Println("left:", set.Indexes())
	must(set.Close(ctx))
	// Output:
	// compare hotels [17 42]
	// left: []
}

// A batch is done in part, and the rest of it is taken again later.
func ExampleSet_Back() {
	set, err := hints.NewMemory(nil)
	must(err)
	must(set.Add("hotels", "17", "42", "99"))
	batch := set.Take("hotels", 1000)
	failed := batch
	failed.Keys, batch.Keys = batch.Keys[:1], batch.Keys[1:] // 17 could not be read
	set.Done(batch)
	set.Back(failed)
	fmt.Println(set.Take("hotels", 1000).Keys)
	// Output:
	// [17]
}

// More keys than there is room for turn the index into one that is to be compared whole.
func ExampleBatch() {
	set, err := hints.NewMemory(&hints.Options{MaxKeys: 2})
	must(err)
	must(set.Add("hotels", "17", "42", "99"))
	batch := set.Take("hotels", 1000)
	fmt.Println(batch.Everything, batch.Keys)
	set.Done(batch)
	// Output:
	// true []
}

// Who must know that a hint outlives the machine waits for the disk.
func ExampleSet_Sync() {
	folder, err := os.MkdirTemp("", "hints")
	must(err)
	defer os.RemoveAll(folder)
	set, err := hints.Open(folder, nil)
	must(err)
	must(set.Add("hotels", "17"))
	fmt.Println(set.Sync(context.Background()), set.Stats().Unsynced)
	must(set.Close(context.Background()))
	// Output:
	// <nil> 0
}
