package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/filterhint"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/terminal"
	"github.com/go-azsearch/azsearch/search"
)

// serviceCall is one run of a command that uses a service.
type serviceCall struct {
	*cli.Command
	service        *connect.Service // nil in a namedCommand
	args           []string
	stdout, stderr terminal.Terminal
}

// serviceCommand makes a command that uses a service and takes least to most arguments; most 0 means any number. If
// ctx has ended, an error of action counts as interrupted.
func serviceCommand(stdout, stderr io.Writer, c cli.Command, least, most int, action func(context.Context, *serviceCall) error) *cli.Command {
	return namedCommand(stdout, stderr, c, least, most, func(ctx context.Context, c *serviceCall) (err error) {
		if c.service, err = connect.Open(c.Command); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.service.Close()) }()
		return c.withHint(ctx, action(ctx, c))
	})
}

// withHint adds advice to the error of a filter that was refused. The first argument is the index.
func (c *serviceCall) withHint(ctx context.Context, err error) error {
	var invalid *search.InvalidFilterError
	var said *search.Error
	refused := errors.As(err, &invalid) || errors.As(err, &said) && said.StatusCode == http.StatusBadRequest && strings.Contains(said.Error(), "$filter")
	if !refused || c.String("filter") == "" {
		return err
	}
	index, _ := c.service.GetIndex(ctx, c.args[0], nil) // without fields there still is advice on signs
	if hint := filterhint.Of(c.String("filter"), index.Fields); hint != "" {
		err = exit.With(exit.Code(err), fmt.Errorf("%w; %s", err, hint))
	}
	return err
}

// namedCommand is serviceCommand for an action that opens the service itself, if its arguments need one.
func namedCommand(stdout, stderr io.Writer, c cli.Command, least, most int, action func(context.Context, *serviceCall) error) *cli.Command {
	c.OnUsageError = usageError
	c.DisableSliceFlagSeparator = true
	c.Flags = append(connect.Flags(), c.Flags...)
	c.Action = func(ctx context.Context, cmd *cli.Command) error {
		args := cmd.Args().Slice()
		switch {
		case len(args) < least:
			return fmt.Errorf("arguments are missing: use %s %s (see %[1]s -help)", cmd.FullName(), cmd.ArgsUsage)
		case most > 0 && len(args) > most:
			do := "quote arguments with spaces"
			if strings.Contains(args[most], " ") && slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "filter") }) {
				do = "a filter follows -filter"
			}
			return fmt.Errorf("unknown argument %q; %s (see %s -help)", shown(args[most]), do, cmd.FullName())
		case slices.Contains(args[:least], ""):
			return fmt.Errorf("an argument is empty: use %s %s", cmd.FullName(), cmd.ArgsUsage)
		}
		if err := refuseURLs(cmd, args); err != nil {
			return err
		}
		err := action(ctx, &serviceCall{Command: cmd, args: args, stdout: terminal.Of(stdout), stderr: terminal.Of(stderr)})
		return interrupted(ctx, err)
	}
	return &c
}

// interrupted gives an error after the end of ctx its exit code.
func interrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || exit.Code(err) == exit.Interrupted {
		return err
	}
	if !strings.HasPrefix(err.Error(), "interrupted") { // else it only has the code of a step in between
		err = fmt.Errorf("interrupted: %w", err)
	}
	return exit.With(exit.Interrupted, err)
}

// between returns an error unless the value of an integer flag is in [low, high].
func (c *serviceCall) between(flag string, low, high int) error {
	if n := c.Int(flag); n < low || n > high {
		return fmt.Errorf("-%s %d: use %d to %d", flag, n, low, high)
	}
	return nil
}

// answered gives an error of a request its exit code: usage if the client refused the query, else service.
func answered(err error) error {
	var filter *search.InvalidFilterError
	var query *search.InvalidQueryError
	if errors.As(err, &filter) || errors.As(err, &query) {
		return err
	}
	return connect.Failed(err)
}

// The output formats for documents.
const (
	asTable = "table"
	asJSON  = "json"
	asLines = "jsonl"
)

func outputFlag(usual string) cli.Flag {
	return &cli.StringFlag{Name: "o", Usage: "print as `FORMAT`: table, json, or jsonl (one line per document)", Value: usual}
}

func selectFlag() cli.Flag {
	return &cli.StringFlag{Name: "select", Usage: "return only these `FIELDS`, separated by commas; a part of a field as in address/city"}
}

// output returns the value of -o, or of -json, or an error if it is not a known format.
func (c *serviceCall) output() (string, error) {
	o := c.String("o")
	if c.Bool("json") {
		if c.IsSet("o") && o != asJSON {
			return "", fmt.Errorf("-json and -o %s are two formats: leave one out", o)
		}
		return asJSON, nil
	}
	if !slices.Contains([]string{asTable, asJSON, asLines}, o) {
		return "", fmt.Errorf("-o %q: use table, json or jsonl", o)
	}
	return o, nil
}

// list splits the value of a flag at commas, and drops spaces and empty parts.
func (c *serviceCall) list(flag string) (parts []string) {
	for part := range strings.SplitSeq(c.String(flag), ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// note prints a line on stderr.
func (c *serviceCall) note(format string, args ...any) {
	line := "azsearch: " + fmt.Sprintf(format, args...) + "\n"
	if c.stderr.Live {
		line = terminal.Erased + line // the progress line may be drawn here
	}
	fmt.Fprint(c.stderr, line)
}

// print prints v as JSON, indented or in one line.
func (c *serviceCall) print(v any, indented bool) error {
	e := json.NewEncoder(c.stdout)
	e.SetEscapeHTML(false)
	if indented {
		e.SetIndent("", "  ")
	}
	return failed(e.Encode(v))
}

// say prints a line on stdout.
func (c *serviceCall) say(format string, args ...any) error {
	_, err := fmt.Fprintf(c.stdout, format+"\n", args...)
	return failed(err)
}
