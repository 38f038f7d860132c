// Command rag is the retrieval half of retrieval-augmented generation: it keeps
// the documentation of Go packages in an index, in passages, and finds those that
// a language model would need to answer a question.
//
//	go run ./samples/rag                 # needs nothing: the service is emulated, and the whole story runs
//	go run ./samples/rag -q 'How do I read a file line by line?'
//	go run ./samples/rag -endpoint https://NAME.search.windows.net
//
// store.go is the part that your program would have: how passages get into the index, are replaced when
// their source changes, and are found by text and vector together. No model takes
// part: the vectors are made by embed.go, which knows how words are spelled and
// not what they mean. A program puts the embeddings of a model in its place, and
// gives the passages that it prints to another one.
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
	p.About = `Rag puts the documentation of Go packages into an Azure AI Search index, passage by
passage and with vectors, and finds the passages that answer a question. Without
-q it tells its whole story, and measures how often it finds what it should.
Without -endpoint it brings an emulated search service of its own.

`
	at := p.Address("azsearch-rag")
	root := p.String("root", declarations.StandardLibrary(), "read packages below `DIR`")
	packages := p.String("packages", defaultPackages, "the import `PATHS` of the packages, with commas between them")
	question := p.String("q", "", "find passages for this `QUESTION`")
	return func(ctx context.Context) error {
		tree, err := declarations.Find(*root)
		if err != nil {
			return err
		}
		return tell(ctx, at, tree, strings.Split(*packages, ","), *question, p.Out)
	}
}

// tell ingests packages, and answers the question that was asked or tells the story.
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
