// Command checkpointing loads a file, line by line, and can be killed at any
// moment: run again, it goes on where it has to, and no line is missing from the
// index in the end. The sender's events move a low-water mark, which is kept in
// a file.
//
//	go run ./samples/checkpointing       # shows itself being killed, on an emulated service
//	go run ./samples/checkpointing -in FILE -endpoint https://NAME.search.windows.net -api-key KEY
//
// The story is in loader.go; durable.go argues why a crash does no harm.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var in, checkpointFile, endpoint, apiKey, index string
	var saveEvery time.Duration
	set := flag.NewFlagSet("checkpointing", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&in, "in", "", "load the lines of `FILE` (default: a demonstration)")
	set.StringVar(&checkpointFile, "checkpoint", "", "keep the checkpoint in `FILE` (default: the input's name and .checkpoint)")
	set.StringVar(&endpoint, "endpoint", "", "the `URL` of the search service")
	set.StringVar(&apiKey, "api-key", os.Getenv("AZURE_SEARCH_API_KEY"), "its admin `KEY`, by default $AZURE_SEARCH_API_KEY")
	set.StringVar(&index, "index", "azsearch-checkpointing", "the `NAME` of the index; it is created if it does not exist")
	set.DurationVar(&saveEvery, "save-every", 200*time.Millisecond, "write the checkpoint at most once in this `DURATION`")
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		set.SetOutput(stdout)
		set.PrintDefaults()
		return 0
	}
	switch {
	case err != nil:
	case set.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", set.Arg(0))
	case in == "" && (endpoint != "" || checkpointFile != ""):
		err = errors.New("-in is missing")
	case in != "" && (endpoint == "" || apiKey == ""):
		err = errors.New("-in needs -endpoint and -api-key")
	}
	if err != nil {
		return complain(stderr, err, 2)
	}
	if in == "" {
		if err := demonstrate(ctx, stdout, stderr); err != nil {
			return complain(stderr, err, 1)
		}
		return 0
	}
	if checkpointFile == "" {
		checkpointFile = in + ".checkpoint"
	}
	client, err := openIndex(ctx, endpoint, apiKey, index)
	if err != nil {
		return complain(stderr, err, 1)
	}
	l := &loader{
		input: in, checkpointFile: checkpointFile, refusedFile: in + ".refused",
		saveEvery: saveEvery, closeTimeout: 10 * time.Second,
	}
	if err := l.load(ctx, client, stdout); err != nil {
		return complain(stderr, err, 1)
	}
	return 0
}

func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "checkpointing: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	return code
}

// openIndex creates the index unless it is there, and returns a client for it.
func openIndex(ctx context.Context, endpoint, apiKey, name string) (*search.Client, error) {
	indexes, err := search.NewIndexClientWithKey(endpoint, azcore.NewKeyCredential(apiKey), nil)
	if err != nil {
		return nil, err
	}
	fields, err := models.FieldsOf[Entry]()
	if err != nil {
		return nil, err
	}
	if _, err := indexes.CreateOrUpdateIndex(ctx, models.SearchIndex{Name: name, Fields: fields}, nil); err != nil {
		return nil, err
	}
	return indexes.Client(name)
}
