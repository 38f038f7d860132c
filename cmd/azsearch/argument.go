package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/internal/wire"
)

// shown returns an argument for a message, without the user info and query of a URL: a subcommand may be missing, or
// a URL stand in place of a file, and the message may be logged.
func shown(argument string) string {
	scheme, _, isURL := strings.Cut(argument, "://")
	if isURL && strings.ContainsFunc(argument, unicode.IsSpace) {
		return scheme + "://" + wire.Hidden
	}
	if location := wire.Location(argument); location != argument {
		return location
	}
	if at := strings.LastIndexByte(argument, '@'); !isURL && at >= 0 && strings.Contains(argument[:at], ":") {
		return wire.Hidden + wire.Text(argument[at:]) // a URL without a scheme
	}
	return wire.Text(argument)
}

// refuseURLs returns an error for URLs where the command takes names of files, directories or definitions, which
// requests and messages would repeat.
func refuseURLs(c *cli.Command, args []string) error {
	var errs []error
	refuse := func(what, value string) {
		if strings.Contains(value, "://") || database.Is(value) {
			errs = append(errs, fmt.Errorf("%s is a URL, and cannot be %s (see %s -help)", shown(value), what, c.FullName()))
		}
	}
	forms := strings.Fields(c.ArgsUsage)
	for i, arg := range args {
		if len(forms) == 0 {
			break // the command refuses all
		}
		form := strings.Trim(forms[min(i, len(forms)-1)], "[].")
		takesDatabase := form == "FILE" || form == "A" || form == "B"
		if form != "TEXT" && (!takesDatabase || !database.Is(arg)) {
			refuse(form, arg)
		}
	}
	for _, f := range c.Flags {
		if f, is := f.(*cli.StringFlag); is && (strings.Contains(f.Usage, "`FILE`") || strings.Contains(f.Usage, "`NAME`")) {
			refuse("-"+f.Name, c.String(f.Name))
		}
	}
	return errors.Join(errs...)
}
