package hints_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-azsearch/azsearch/bufferedsender/hints"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Documents given up in an outage are compared by the next process.
func Example() {
	folder, err := os.MkdirTemp("", "hints") // a program uses a fixed one
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
	batch := set.Take("hotels", 1000)
	fmt.Println("compare", batch.Keys)
	set.Done(batch)
	fmt.Println("left:", set.Stats().Keys)
	must(set.Close(ctx))
	// Output:
	// compare [17 42]
	// left: map[]
}

// A batch is partly done, and the rest is taken again later.
func ExampleSet_Back() {
	set := new(hints.Set) // without a file
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

// If an index has more hints than memory allows, the whole index must be compared.
func ExampleOptions() {
	folder, err := os.MkdirTemp("", "hints")
	must(err)
	defer os.RemoveAll(folder)
	set, err := hints.Open(folder, &hints.Options{MaxMemory: 150})
	must(err)
	must(set.Add("hotels", "17", "42", "99"))
	batch := set.Take("hotels", 1000)
	fmt.Println(batch.Everything, batch.Keys)
	set.Done(batch)
	must(set.Close(context.Background()))
	// Output:
	// true []
}

// A damaged or missing file may have lost keys of any index, so all indexes must be compared.
func ExampleSet_AddEverything() {
	folder, err := os.MkdirTemp("", "hints")
	must(err)
	defer os.RemoveAll(folder)
	must(os.WriteFile(filepath.Join(folder, "hints.log"), []byte("something else"), 0o600))

	set, err := hints.Open(folder, nil)
	if errors.Is(err, hints.ErrDamaged) {
		must(os.Remove(filepath.Join(folder, "hints.log")))
		set, err = hints.Open(folder, nil)
		must(err)
		for _, index := range []string{"hotels", "cities"} {
			must(set.AddEverything(index))
		}
	}
	must(err)
	fmt.Println(set.Take("cities", 1000).Everything)
	must(set.Close(context.Background()))
	// Output:
	// true
}

// Sync waits for the disk, for programs that need hints to survive a crash of the machine.
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
