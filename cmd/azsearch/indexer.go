package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/table"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/search"
)

func newIndexerCommand(stdout, stderr io.Writer) *cli.Command {
	asJSON := &cli.BoolFlag{Name: "json", Usage: "print JSON"}
	return &cli.Command{
		Name:         "indexer",
		Usage:        "run, reset and watch the indexers of a service",
		Description:  examples("indexer", "status", "status hotels", "run hotels"),
		OnUsageError: usageError,
		Action:       refuseArguments(cli.ShowSubcommandHelp),
		Commands: []*cli.Command{
			serviceCommand(stdout, stderr, cli.Command{
				Name: "run", Usage: "start an indexer", ArgsUsage: "NAME",
				Description: `With -wait the exit code is 0 if the run succeeded and no item failed, else 1. If the indexer is
already running, the command waits for that run, then starts one.

   azsearch indexer run hotels
   azsearch indexer run -wait hotels
   azsearch indexer run -wait -timeout 2h -json hotels > run.json`,
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "wait", Usage: "wait for the end of the run, and print its outcome"},
					&cli.DurationFlag{Name: "timeout", Usage: "wait at most `DURATION`; the run itself continues", Value: 24 * time.Hour},
					asJSON,
				},
			}, 1, 1, runIndexer),
			serviceCommand(stdout, stderr, cli.Command{
				Name: "status", Usage: "print the last runs of indexers, with their errors", ArgsUsage: "[NAME...]",
				Description: `Without NAME the command prints the last run of each indexer, with NAME the last ten runs and the errors
of the latest. The exit code is 1 if the last run of an indexer, or an item of it, failed.

   azsearch indexer status
   azsearch indexer status hotels
   azsearch indexer status -json hotels | jq '.lastResult.errors'`,
				Flags: []cli.Flag{asJSON},
			}, 0, 0, indexerStatus),
			serviceCommand(stdout, stderr, cli.Command{
				Name: "reset", Usage: "make the next run of an indexer read everything again", ArgsUsage: "NAME",
				Description: `The command starts no run and deletes no document.

   azsearch indexer reset hotels
   azsearch indexer reset hotels && azsearch indexer run -wait hotels
   azsearch indexer reset -endpoint https://NAME.search.windows.net hotels`,
			}, 1, 1, func(ctx context.Context, c *serviceCall) error {
				if err := c.service.Indexers.ResetIndexer(ctx, c.args[0], nil); err != nil {
					return answered(err)
				}
				return c.say("reset; the next run of %s reads everything again", listing.Safe(c.args[0]))
			}),
		},
	}
}

func runIndexer(ctx context.Context, c *serviceCall) error {
	name := c.args[0]
	if !c.Bool("wait") {
		if c.IsSet("timeout") {
			return errors.New("-timeout needs -wait")
		}
		if err := c.service.Indexers.RunIndexer(ctx, name, nil); err != nil {
			return answered(err)
		}
		return c.more("started; azsearch indexer status %s shows the outcome", listing.Safe(name))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Duration("timeout"), fmt.Errorf("still running after -timeout %v", c.Duration("timeout")))
	defer cancel()
	run, err := c.service.Indexers.WaitForIndexer(ctx, name, nil)
	var bad *search.IndexerError
	if err != nil && !errors.As(err, &bad) {
		return answered(err)
	}
	if c.Bool("json") {
		return errors.Join(c.print(run, true), failed(err))
	}
	return errors.Join(c.runs([]indexers.Execution{run}, true), failed(err))
}

func indexerStatus(ctx context.Context, c *serviceCall) error {
	names := c.args
	if len(names) == 0 {
		for name, err := range c.service.Indexers.ListIndexerNames(ctx, nil) {
			if err != nil {
				return answered(err)
			}
			names = append(names, name)
		}
		if len(names) == 0 {
			return c.more("the service has no indexers")
		}
	}
	var bad []string
	for i, name := range names {
		status, err := c.service.Indexers.GetIndexerStatus(ctx, name, nil)
		if err != nil {
			return answered(err)
		}
		if last := status.LastResult; last != nil && (last.ItemsFailed > 0 || strings.HasSuffix(string(last.Status), "Failure")) {
			bad = append(bad, listing.Safe(name))
		}
		if c.Bool("json") {
			if err := c.print(status, false); err != nil {
				return err
			}
			continue
		}
		if i > 0 && len(c.args) > 0 {
			fmt.Fprintln(c.stdout)
		}
		if err := c.status(status); err != nil {
			return err
		}
	}
	if len(bad) > 0 {
		return failed(fmt.Errorf("the last run, or an item of it, failed: %s; azsearch indexer status NAME shows why", strings.Join(bad, ", ")))
	}
	return nil
}

// mostRuns is the number of runs printed, and of errors and warnings of the latest run.
const mostRuns = 10

// status prints the last run of an indexer; if the command names indexers, up to mostRuns runs.
func (c *serviceCall) status(s indexers.Status) error {
	state := string(s.Status)
	if s.Status == indexers.IndexerStatusRunning {
		state = "ready" // the service reports "running" for an enabled indexer
	}
	if s.LastResult == nil {
		return c.say("%s: %s, has never run", listing.Safe(s.Name), state)
	}
	if err := c.say("%s: %s", listing.Safe(s.Name), state); err != nil {
		return err
	}
	if len(c.args) == 0 {
		return c.runs([]indexers.Execution{*s.LastResult}, false)
	}
	runs := s.ExecutionHistory
	if s.LastResult.Status == indexers.ExecutionStatusInProgress || len(runs) == 0 {
		runs = append([]indexers.Execution{*s.LastResult}, runs...)
	}
	return c.runs(runs[:min(len(runs), mostRuns)], true)
}

// runs prints runs, newest first; with errorsToo also the errors and warnings of the newest one.
func (c *serviceCall) runs(runs []indexers.Execution, errorsToo bool) error {
	t := table.New(c.stdout)
	for _, x := range runs {
		began, took := "", ""
		if x.StartTime != nil {
			began = x.StartTime.UTC().Format(time.RFC3339)
			if x.EndTime != nil {
				took = x.EndTime.Sub(*x.StartTime).Round(time.Millisecond).String()
			}
		}
		t.Row("  "+string(x.Status), began, took, humanize.Comma(x.ItemsProcessed)+" items", humanize.Comma(x.ItemsFailed)+" failed", x.ErrorMessage)
	}
	if err := t.Flush(); err != nil || !errorsToo {
		return failed(err)
	}
	for _, x := range runs[:min(len(runs), 1)] {
		for _, e := range x.Errors[:min(len(x.Errors), mostRuns)] {
			if err := c.say("    %s", c.stdout.Red(fmt.Sprintf("%s (%d): %s", listing.Safe(e.Key), e.StatusCode, listing.Printable(e.ErrorMessage)))); err != nil {
				return err
			}
		}
		for _, w := range x.Warnings[:min(len(x.Warnings), mostRuns)] {
			if err := c.say("    warning: %s: %s", listing.Safe(w.Key), listing.Printable(w.Message)); err != nil {
				return err
			}
		}
	}
	return nil
}
