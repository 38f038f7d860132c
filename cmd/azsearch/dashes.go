package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v3"
)

// oneDash returns a function that describes a flag for the help with one dash, as examples and messages do. Commands
// accept one or two.
func oneDash(describe cli.FlagStringFunc) cli.FlagStringFunc {
	return func(f cli.Flag) string {
		names, text, _ := strings.Cut(describe(f), "\t")
		return strings.ReplaceAll(names, "--", "-") + "\t" + text
	}
}

// completeAsBegun makes commands suggest flags with one dash, unless the word to complete begins with two. A command
// without commands does not suggest the command help either: where nothing is suggested, shells complete file names.
func completeAsBegun(commands ...*cli.Command) {
	for _, c := range commands {
		c.HideHelpCommand = len(c.Commands) == 0
		c.ShellComplete = func(ctx context.Context, c *cli.Command) {
			var suggested strings.Builder
			root := c.Root()
			w := root.Writer
			root.Writer = &suggested
			cli.DefaultCompleteWithFlags(ctx, c)
			root.Writer = w
			text := suggested.String()
			if last := len(os.Args) - 2; last < 0 || !strings.HasPrefix(os.Args[last], "--") { // the last one asks for suggestions
				text = strings.ReplaceAll("\n"+text, "\n--", "\n-")[1:]
			}
			_, _ = io.WriteString(w, text) // the shell has gone away
		}
		completeAsBegun(c.Commands...)
	}
}
