package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/infer"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
)

func newInferCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:      "infer",
		Usage:     "print an index definition for the records of files",
		ArgsUsage: "FILE...",
		Description: `Files are read completely, in the formats of azsearch load. Doubtful choices are printed on
stderr. Review the definition before you create an index with it: types cannot be changed
later. azsearch load -create creates the index and loads the files; azsearch apply creates it
from a folder, as indexes/NAME.json.

   azsearch infer hotels.jsonl > hotels.json && azsearch load -create hotels.json hotels.jsonl
   azsearch infer -index hotels 'export/*.csv.gz' > hotels.json
   azsearch infer huge.parquet | jq .fields`,
		OnUsageError: usageError,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "index", Usage: "set the `NAME` of the index; by default one derived from the name of the first file or database"},
			queryFlag(),
			&cli.StringFlag{Name: "format", Usage: "read every file as `FORMAT`: " + strings.Join(source.Kinds, ", ") + "; by default from its name and content"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			files, options, err := inputs(ctx, c, c.Args().Slice())
			if err != nil {
				return err
			}
			name, why := c.String("index"), ""
			if name == "" {
				name, why = indexName(files[0])
			}
			definition, notes, err := infer.Files(ctx, files, options, name)
			if err != nil {
				return interrupted(ctx, failed(err))
			}
			if why != "" {
				notes = append(notes, fmt.Sprintf("the index is named %q, %s; -index sets another", name, why))
			}
			for _, note := range notes {
				fmt.Fprintln(stderr, "azsearch: "+note)
			}
			e := json.NewEncoder(stdout)
			e.SetIndent("", "  ")
			return e.Encode(definition)
		},
	}
}

// indexName derives a valid index name from the name of a file or a database, and says how.
func indexName(of string) (name, why string) {
	base, _, _ := strings.Cut(filepath.Base(strings.TrimPrefix(of, "sqlite:")), ".")
	name = strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(base), "-"), "-")
	name = strings.TrimRight(name[:min(len(name), 128)], "-")
	switch {
	case of == source.Stdin:
		return "documents", "because the standard input has no name"
	case len(name) < 2:
		return "documents", fmt.Sprintf("because an index cannot be named %q", base)
	case database.Is(of):
		return name, "derived from the name of the database"
	}
	return name, "derived from the name of the first file"
}
