package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/load"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/shell"
	"github.com/go-azsearch/azsearch/search"
)

// rejects opens the file of rejects. The default file of a dry run is truncated first.
func (l *loading) rejects(at *load.Checkpoint) (*load.Rejects, error) {
	path := l.String("rejects")
	if path == "" && l.Bool("dry-run") {
		path = "dry-run-rejects.jsonl"
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return load.OpenRejects(path, at)
}

// again returns the command that loads a file of rejects, which is its missing last argument. It has the flags that
// decide where records go and how they are converted: a reject is the original record.
func (l *loading) again() string {
	words := []string{"azsearch load -index", shell.Word(l.definition.Name)}
	for _, flag := range []string{"key", "action", "action-column", "unknown", "jq", "queue"} {
		if l.IsSet(flag) {
			words = append(words, "-"+flag, shell.Word(l.String(flag)))
		}
	}
	for _, flag := range []string{"map", "split"} {
		for _, value := range l.StringSlice(flag) {
			words = append(words, "-"+flag, shell.Word(value))
		}
	}
	if endpoint := l.String("endpoint"); endpoint != os.Getenv(connect.EndpointVariable) {
		words = append(words, "-endpoint", shell.Word(endpoint))
	}
	if version := l.String("api-version"); version != search.DefaultAPIVersion && version != os.Getenv(connect.VersionVariable) {
		words = append(words, "-api-version", shell.Word(version))
	}
	return strings.Join(words, " ")
}
