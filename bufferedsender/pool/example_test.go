package pool_test

import (
	"context"
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/models"
)

// A program exports an index and serves its users, with four concurrent requests in total.
func Example() {
	p, err := pool.New(&pool.Options{Expedited: 3, Shared: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	hotels, err := p.Join("hotels")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	err = hotels.Do(ctx, models.ClassBestEffort, func(context.Context) error {
		// One page of the export. Meanwhile a user's request arrives:
		return hotels.Do(ctx, models.ClassExpedited, func(context.Context) error {
			fmt.Println("the user was not kept waiting")
			return nil
		})
	})
	fmt.Println(err, p.Stats().Classes[models.ClassBestEffort].Granted, p.Shutdown(ctx))
	// Output:
	// the user was not kept waiting
	// <nil> 1 <nil>
}
