// Package cli runs the commands of this module: arguments, exit codes, and the processes in which commands run parts
// of themselves.
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
	About string // one sentence
	// Run runs the command with the arguments after its name. Its error determines the exit code: see [Command.Main].
	Run func(ctx context.Context, args []string, s Streams) error
	// Tasks are parts of the command that run in other processes of the program. Their arguments are the name of the
	// command, the name of the task, and the task in JSON.
	Tasks map[string]Task
}

// Task runs a task. text is the task in JSON.
type Task func(ctx context.Context, text []byte, s Streams) error

// Streams are the standard streams of a process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// ErrFailed is the error of a command that has already printed the reason.
var ErrFailed = errors.New("failed")

// mistake is an error in the arguments.
type mistake struct {
	error
	said bool // the package flag has printed it
}

// Flags returns a set of flags for a command. Parse them with [Parse].
func Flags(name string, s Streams) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(s.Err)
	return set
}

// Parse parses arguments, which must all be flags. check, which may be nil, returns every error in their values.
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

// Main runs the command and returns the exit code: 0, 1 if a measurement fails or its result is wrong, 2 for invalid
// arguments. A missed target is only marked in the table, because a busy machine misses some.
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

// Main runs the command that the process's arguments name, and exits. Without arguments it lists the commands.
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

// StandIn is Main if the arguments name a command, and otherwise returns. TestMain calls it, because commands start
// the test binary as their processes.
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

// TaskOf returns a task that decodes a T, calls do, and writes its result in JSON.
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

// WriteJSON writes indented JSON.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
