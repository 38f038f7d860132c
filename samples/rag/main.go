// Command rag is the retrieval half of retrieval-augmented generation: it keeps the documentation of Go packages in
// an index, as passages, and finds the passages that a language model needs to answer a question.
//
//	go run ./samples/rag                 # emulated service, all steps
//	go run ./samples/rag -q 'How do I read a file line by line?'
//	go run ./samples/rag -endpoint https://NAME.search.windows.net
//
// store.go is the part to copy: it uploads passages, replaces them when their source changes, and finds them by text
// and vector. embed.go makes the vectors from spelling, without a model. A real program uses the embeddings of a
// model instead, and passes the printed passages to a language model.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("rag", program) }

const defaultPackages = "bufio,bytes,context,encoding/csv,encoding/json,errors,flag,fmt,io,io/fs,log/slog,maps,math/rand/v2,net/http,net/url," +
	"os,os/exec,os/signal,path,path/filepath,regexp,slices,sort,strconv,strings,sync,sync/atomic,text/template,time,unicode/utf8"

func program(p *stage.Program) func(context.Context) error {
	p.About = `Rag indexes the documentation of Go packages in Azure AI Search, as passages with
vectors, and finds the passages that answer a question. Without -q it runs a
demonstration and measures its hit rate. Without -endpoint it starts an emulated
search service.

`
	at := p.Address("azsearch-rag")
	root := p.String("root", declarations.StandardLibrary(), "read packages below `DIR`")
	packages := p.String("packages", defaultPackages, "import `PATHS` of the packages, separated by commas")
	question := p.String("q", "", "find passages for this `QUESTION`")
	return func(ctx context.Context) error {
		tree, err := declarations.Find(*root)
		if err != nil {
			return err
		}
		return tell(ctx, at, tree, strings.Split(*packages, ","), *question, p.Out)
	}
}

func tell(ctx context.Context, at *stage.Address, tree declarations.Tree, packages []string, question string, w io.Writer) (err error) {
	service, err := at.Connect(&searchtest.Options{KeepChanges: -1})
	if err != nil {
		return err
	}
	defer service.Close()
	s, err := openStore(ctx, service, at.Index, hashing{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close(ctx, s.sender)) }()
	fmt.Fprintf(w, "index %s of %s; vectors of %d dimensions made by hashing, not by a model\n", at.Index, service.Name, dimensions)
	story := &story{w: w, store: s, packages: packages}
	passages, err := story.ingest(ctx, tree)
	if err != nil {
		return err
	}
	if question != "" {
		return story.ask(ctx, question, search.Filter{}, 5)
	}
	return story.tell(ctx, passages)
}
