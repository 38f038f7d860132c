// Package stage has the parts of samples that are not about search: a command line, a search service that is emulated
// or named by flags, processes to start and to kill, waiting, comparing, printing. A program that copies from a sample
// needs none of it.
package stage

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// The exit codes of all samples, next to 0.
const (
	ExitProblem     = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// Program is a sample as it is started: its flags and its streams.
type Program struct {
	*flag.FlagSet

	In       io.Reader
	Out, Err io.Writer
	// About is printed by -h, before the flags.
	About string
	// Check reports every flag that makes no sense, after all of them were read. nil accepts all.
	Check func() error
	// Args allows arguments after the flags.
	Args bool

	name    string
	checks  []func() error
	verbose bool
	work    func(context.Context, io.Reader, io.Writer) error // of a process that is a worker
}

// Setup declares the flags of a sample and returns what it does. The end of ctx is Ctrl-C. An error of the function is
// exit code 1, with one line on Err; after Ctrl-C it is exit code 130.
type Setup func(p *Program) func(ctx context.Context) error

// Main runs a sample and ends the process.
func Main(name string, setup Setup) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(Run(ctx, name, setup, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs a sample and returns its exit code. Nothing that it prints commands a terminal, and output that cannot be
// written, to a full disk for example, is an error.
func Run(ctx context.Context, name string, setup Setup, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &writer{w: stdout}
	p := &Program{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), In: stdin, Out: out, Err: stderr, name: name}
	p.SetOutput(io.Discard)
	play := setup(p)
	err := p.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, p.About)
		p.SetOutput(stdout)
		p.PrintDefaults()
		return 0
	case err != nil:
		return p.complain(err, ExitUsage)
	}
	var errs []error
	if p.NArg() > 0 && !p.Args {
		errs = append(errs, fmt.Errorf("unknown argument %q", p.Arg(0)))
	}
	for _, check := range append(p.checks, p.Check) {
		if check != nil {
			errs = append(errs, check())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return p.complain(err, ExitUsage)
	}
	if p.work != nil {
		play = func(ctx context.Context) error { return p.work(context.WithoutCancel(ctx), p.In, p.Out) }
	}
	switch err = errors.Join(play(ctx), out.err); {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return ExitInterrupted
	}
	return p.complain(err, ExitProblem)
}

func (p *Program) complain(err error, code int) int {
	text := strings.TrimPrefix(strings.TrimSpace(err.Error()), p.name+": ") // a package may have the name of the sample
	fmt.Fprintf(p.Err, "%s: %s\n", p.name, Line(strings.ReplaceAll(text, "\n", "; ")))
	return code
}

// Given reports whether the command line sets a flag.
func (p *Program) Given(name string) (given bool) {
	p.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// Logger declares the flag -v and returns a logger that writes to Err if it is set.
func (p *Program) Logger() *slog.Logger {
	p.BoolVar(&p.verbose, "v", false, "log on stderr")
	return slog.New(slog.NewTextHandler(verbose{p}, nil))
}

type verbose struct{ p *Program }

func (v verbose) Write(line []byte) (int, error) {
	if !v.p.verbose {
		return len(line), nil
	}
	return v.p.Err.Write(line)
}
