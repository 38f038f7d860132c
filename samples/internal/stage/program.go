// Package stage has the parts of samples that do not concern search: command line, emulated or real service, worker
// processes, waiting, comparing, printing. Code that you copy from a sample does not need it.
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

// The exit codes of samples, besides 0.
const (
	ExitProblem     = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// Program is a running sample: its flags and streams.
type Program struct {
	*flag.FlagSet

	In       io.Reader
	Out, Err io.Writer
	// About is printed by -h before the flags.
	About string
	// Check reports invalid combinations of flags, after all are parsed. nil accepts all.
	Check func() error
	// Args allows arguments after the flags.
	Args bool

	name    string
	checks  []func() error
	verbose bool
	work    func(context.Context, io.Reader, io.Writer) error // set in a worker process
}

// Setup declares the flags of a sample and returns the function to run. Ctrl-C ends its ctx. An error is printed on
// one line of Err and gives exit code 1, after Ctrl-C exit code 130.
type Setup func(p *Program) func(ctx context.Context) error

// Main runs a sample and ends the process.
func Main(name string, setup Setup) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(Run(ctx, name, setup, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs a sample and returns its exit code. It removes control characters from the output. Output that cannot be
// written, for example to a full disk, is an error.
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
	text := strings.TrimPrefix(strings.TrimSpace(err.Error()), p.name+": ") // the package of the error may have the name of the sample
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
