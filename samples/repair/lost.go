package main

// This file finds lost writes without reading the index. A digest tree on disk keeps the version of each key that the
// service has confirmed, and is compared with the table.

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/search"
)

// follow opens the tree of a new index, and creates a sender that updates it. Close the tree after the sender.
func follow(client *search.Client, folder string, opts bufferedsender.Options[Hotel]) (*digesttree.Tree, *bufferedsender.BufferedSender[Hotel], error) {
	tree, err := digesttree.Open(folder, &digesttree.Options{Empty: true}) // without Empty the first repair scans the index once
	if err != nil {
		return nil, nil, err
	}
	opts.Handlers = events.Multi(opts.Handlers, digesttree.Follow(tree, func(h Hotel) int64 { return h.Version }))
	sender, err := bufferedsender.New(client, &opts)
	if err != nil {
		return nil, nil, errors.Join(err, tree.Close(context.Background()))
	}
	return tree, sender, nil
}

// repairLost repairs rows that this sender should have written and the index lacks. It reads the table, and only
// those documents whose keys differ: some seconds for ten million hotels with seven lost writes, where Run reads ten
// million documents. It does not see changes that other programs make to the index; use Run for these.
func repairLost(ctx context.Context, tree *digesttree.Tree, db *sql.DB, index repair.Index, sender *bufferedsender.BufferedSender[Hotel]) (repair.Report, error) {
	r := repair.Repairer{Source: source(db), Index: index, Sender: sender.Raw(), Options: repair.Options{Pause: 2 * visible}}
	return r.RunTree(ctx, tree)
}
