package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/doctor"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/table"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func newStatsCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "stats",
		Usage:     "print document counts and storage of a service and its indexes, and quotas",
		ArgsUsage: "[INDEX...]",
		Description: `With INDEX the command prints only these indexes. The service updates its counts with a delay.

   azsearch stats
   azsearch stats hotels rooms
   azsearch stats -json | jq '.indexes[] | select(.documentCount == 0) | .name'`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}},
	}, 0, 0, runStats)
}

// serviceStats is the output with -json.
type serviceStats struct {
	Service *models.ServiceStatistics     `json:"service,omitempty"`
	Indexes []models.NamedIndexStatistics `json:"indexes"`
}

func runStats(ctx context.Context, c *serviceCall) error {
	s := serviceStats{Indexes: []models.NamedIndexStatistics{}}
	var err error
	if len(c.args) == 0 {
		service, err := c.service.GetServiceStatistics(ctx, nil)
		if err != nil {
			return answered(err)
		}
		s.Service = &service
	}
	if s.Indexes, err = indexStats(ctx, c.service, c.args); err != nil {
		return answered(err)
	}
	if c.Bool("json") {
		return c.print(s, true)
	}
	if s.Service != nil {
		if err := c.counters(&s.Service.Counters); err != nil {
			return failed(err)
		}
	}
	t := table.New(c.stdout)
	t.Row("index", "documents", "storage", "vectors in memory")
	for _, i := range s.Indexes {
		t.Row(i.Name, humanize.Comma(i.DocumentCount), doctor.Size(i.StorageSize), doctor.Size(i.VectorIndexSize))
	}
	return failed(t.Flush())
}

// indexStats returns the statistics of the named indexes, or of all if names is empty. For all it sends one request
// if the service supports that, else one per index.
func indexStats(ctx context.Context, client *connect.Service, names []string) (all []models.NamedIndexStatistics, err error) {
	all = []models.NamedIndexStatistics{}
	if len(names) == 0 {
		for s, err := range client.ListIndexStatistics(ctx, nil) {
			if err == nil {
				all = append(all, s)
				continue
			}
			var said *search.Error
			if errors.As(err, &said) && said.StatusCode != http.StatusBadRequest && said.StatusCode != http.StatusNotFound || !errors.As(err, &said) && ctx.Err() != nil {
				return nil, err
			}
			all = []models.NamedIndexStatistics{}
			for name, err := range client.ListIndexNames(ctx, nil) {
				if err != nil {
					return nil, err
				}
				names = append(names, name)
			}
			break
		}
	}
	for _, name := range names {
		s, err := client.GetIndexStatistics(ctx, name, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, models.NamedIndexStatistics{Name: name, DocumentCount: s.DocumentCount, StorageSize: s.StorageSize, VectorIndexSize: s.VectorIndexSize})
	}
	return all, nil
}

// counters prints the usage of the service next to its quotas.
func (c *serviceCall) counters(counters *models.ServiceCounters) error {
	t := table.New(c.stdout)
	for _, x := range doctor.Counters(counters) {
		text := x.Show(x.Usage)
		if quota := x.Quota; quota != nil {
			text += " of " + x.Show(*quota)
			if *quota > 0 {
				text += fmt.Sprintf(" (%d %%)", 100*x.Usage / *quota)
			}
		}
		t.Row(x.Name, text)
	}
	fmt.Fprintln(t)
	return t.Flush()
}
