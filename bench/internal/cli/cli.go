// Package cli runs the commands of this module: what all of them do with their arguments, their exit codes, and the
// processes that they start of themselves.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
)

// Command is a command of the program.
type Command struct {
	Name  string
	About string // in a sentence
	// Run does what the arguments after the name say. Its error makes the exit code: see [Command.Main].
	Run func(ctx context.Context, args []string, s Streams) error
	// Tasks are what the command starts itself for, in processes of their own: the program's arguments are then the
	// name of the command, that of the task, and what it is, in JSON.
	Tasks map[string]Task
}

// Task does what the text says, which is JSON.
type Task func(ctx context.Context, text []byte, s Streams) error

// Streams are those of a process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// ErrFailed is for a command that has said itself what is wrong.
var ErrFailed = errors.New("failed")

// mistake is one in the arguments.
type mistake struct {
	error
	said bool // by the package flag
}

// Flags returns a set of flags for a command, to be parsed with [Parse].
func Flags(name string, s Streams) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(s.Err)
	return set
}

// Parse parses arguments that are nothing but flags. check, which may be nil, says what is wrong with their values,
// all of it at once.
func Parse(set *flag.FlagSet, args []string, check func() error) error {
	if err := set.Parse(args); err != nil {
		return mistake{err, true}
	}
	var err error
	if set.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if check != nil {
		err = errors.Join(err, check())
	}
	if err != nil {
		return mistake{err, false}
	}
	return nil
}

// Main runs the command, and returns the exit code: 0, 1 if something could not be measured or is wrong, 2 for a
// mistake in the arguments. A target that is missed is marked in the table, and no error: a machine that does other
// work misses some.
func (c Command) Main(ctx context.Context, args []string, s Streams) int {
	var err error
	if len(args) == 2 && c.Tasks[args[0]] != nil {
		err = c.Tasks[args[0]](ctx, []byte(args[1]), s)
	} else {
		err = c.Run(ctx, args, s)
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	wrong := mistake{}
	inArguments := errors.As(err, &wrong)
	if !wrong.said && !errors.Is(err, ErrFailed) {
		fmt.Fprintf(s.Err, "%s: %v\n", c.Name, err)
	}
	if inArguments {
		return 2
	}
	return 1
}

// Main runs the one of the commands that the arguments of this process name, and exits; without any it lists them.
func Main(commands ...Command) {
	if len(os.Args) < 2 {
		for _, c := range commands {
			fmt.Printf("%-12s %s\n", c.Name, c.About)
		}
		os.Exit(0)
	}
	StandIn(commands...)
	fmt.Fprintf(os.Stderr, "bench: nothing is called %q; without arguments it lists the names\n", os.Args[1])
	os.Exit(2)
}

// StandIn is Main where the arguments name one of the commands, and nothing where not. TestMain calls it: the binary of
// tests is the program that commands start as their processes.
func StandIn(commands ...Command) {
	if len(os.Args) < 2 {
		return
	}
	i := slices.IndexFunc(commands, func(c Command) bool { return c.Name == os.Args[1] })
	if i < 0 {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := commands[i].Main(ctx, os.Args[2:], Streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// TaskOf returns a task that is told what to do by a T, and writes what came of it.
func TaskOf[T, R any](do func(ctx context.Context, t T) (R, error)) Task {
	return func(ctx context.Context, text []byte, s Streams) error {
		var t T
		if err := json.Unmarshal(text, &t); err != nil {
			return fmt.Errorf("the task: %w", err)
		}
		result, err := do(ctx, t)
		if err != nil {
			return err
		}
		return WriteJSON(s.Out, result)
	}
}

// WriteJSON writes for programs.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
