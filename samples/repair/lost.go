package main

// Finding the writes that got lost on their way, without reading the index: a tree keeps on the disk which version of
// each key the service has confirmed to the sender, and compares that with the table by digests.

import (
	"context"
	"database/sql"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/search"
)

// follow opens the tree of a new index, and makes a sender that it follows. Close the tree after the sender.
func follow(client *search.Client, folder string, opts bufferedsender.Options[Hotel]) (*digesttree.Tree, *bufferedsender.BufferedSender[Hotel], error) {
	tree, err := digesttree.Open(folder, &digesttree.Options{Empty: true}) // without Empty the first repair scans the index once
	if err != nil {
		return nil, nil, err
	}
	opts.Handlers = digesttree.Follow(tree, func(h Hotel) int64 { return h.Version })
	sender, err := bufferedsender.New(client, &opts)
	return tree, sender, err
}

// repairLost repairs what is in the table and not in the index, as far as the sender should have written it. It reads
// the table, and of the index only the documents whose keys differ: with ten million hotels and seven lost writes some
// seconds, where Run reads ten million documents. What others do to the index it does not see: see source.
func repairLost(ctx context.Context, tree *digesttree.Tree, db *sql.DB, index repair.Index, sender *bufferedsender.BufferedSender[Hotel]) (repair.Report, error) {
	r := repair.Repairer{Source: source(db), Index: index, Sender: sender.Raw(), Options: repair.Options{Pause: 2 * visible}}
	return r.RunTree(ctx, tree)
}
