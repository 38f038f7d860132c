package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/table"
	"github.com/go-azsearch/azsearch/search"
)

func newGetCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "get",
		Usage:     "print documents by their keys",
		ArgsUsage: "INDEX KEY...",
		Description: `Documents are printed in the order of the arguments. Keys that are not in the index are named on
stderr, and the exit code is 1.

   azsearch get hotels 17
   azsearch get -select name,address/city -o table hotels 17 18 19
   azsearch get -o jsonl hotels $(cat keys.txt) > some.jsonl`,
		Flags: []cli.Flag{selectFlag(), outputFlag(asJSON)},
	}, 2, 0, func(ctx context.Context, c *serviceCall) error {
		o, err := c.output()
		if err != nil {
			return err
		}
		client, err := c.service.Client(c.args[0])
		if err != nil {
			return err
		}
		var documents []json.RawMessage
		var missing []string
		for _, key := range c.args[1:] {
			document, err := search.GetDocument[json.RawMessage](ctx, client, key, &search.GetDocumentOptions{Select: c.list("select")})
			switch {
			case errors.Is(err, search.ErrDocumentNotFound):
				missing = append(missing, listing.Safe(key))
				continue
			case err != nil:
				return answered(err)
			case o != asTable:
				if err := c.print(document, o == asJSON); err != nil {
					return err
				}
			}
			documents = append(documents, document)
		}
		if o == asTable {
			if err := c.table(documents); err != nil {
				return err
			}
		}
		if len(missing) > 0 {
			return failed(fmt.Errorf("%d of %s not found in index %q: %s", len(missing), amount.Of(len(c.args)-1, "key"), c.args[0], strings.Join(missing, ", ")))
		}
		return nil
	})
}

// table prints documents as a table, followed by the names of the fields for which there was no room.
func (c *serviceCall) table(documents []json.RawMessage) error {
	if len(documents) == 0 {
		return nil
	}
	left, err := table.Documents(c.stdout, documents, c.list("select"))
	if err == nil && len(left) > 0 {
		for i := range left {
			left[i] = listing.Safe(left[i])
		}
		err = c.say("(more fields, for -select: %s)", strings.Join(left, ", "))
	}
	return failed(err)
}
