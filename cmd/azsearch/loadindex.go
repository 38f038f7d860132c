package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/load"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// connect sets l.definition: to the definition of the existing index, or to that of -create.
func (l *loading) connect(ctx context.Context) (err error) {
	var given *models.SearchIndex
	if path := l.String("create"); path != "" {
		if given, err = readDefinition(path, l.String("index")); err != nil {
			return err
		}
		if l.definition = *given; l.Bool("dry-run") && l.String("endpoint") == "" {
			return nil
		}
	}
	if l.service, err = connect.Open(l.Command); err != nil {
		return err
	}
	name := l.String("index")
	if given != nil {
		name = given.Name
	}
	live, err := l.service.GetIndex(ctx, name, nil)
	var said *search.Error
	missing := errors.As(err, &said) && said.StatusCode == http.StatusNotFound
	switch {
	case missing && given == nil:
		return connect.Failed(fmt.Errorf("index %q does not exist at %s; -create DEFINITION creates it: %w", name, l.service.Endpoint(), err))
	case missing:
		l.missing = !l.Bool("dry-run")
		return nil
	}
	if err == nil && given != nil && !l.Bool("quiet") {
		if changes, _ := search.DiffIndex(live, *given); len(changes) > 0 {
			fmt.Fprintf(l.stderr, "azsearch: index %s exists, and -create does not change it: %s differs; see azsearch apply\n", name, changes[0].Path)
		}
	}
	l.definition = live
	return connect.Failed(err)
}

// create creates the missing index, unless a file has a column that it lacks: the definition may be wrong, and later
// runs would not use another one for the index that exists.
func (l *loading) create(ctx context.Context, o *load.Options) (err error) {
	for _, name := range o.Files {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || o.Filter != nil {
			continue
		}
		f, err := source.Open(ctx, name, o.Source)
		if err != nil {
			continue // reported when the load reads the file
		}
		columns := f.Columns
		f.Close()
		if _, err := o.Plan.Columns(columns); err != nil {
			return fmt.Errorf("%s: %w; index %s was not created", name, err, l.definition.Name)
		}
	}
	if l.definition, err = l.service.CreateIndex(ctx, l.definition, nil); err != nil {
		return connect.Failed(err)
	}
	if o.Checkpoint != nil {
		o.Checkpoint.Created(l.definition.ETag)
	}
	if !l.Bool("quiet") {
		fmt.Fprintf(l.stderr, "azsearch: created index %s\n", l.definition.Name)
	}
	return nil
}

// readDefinition reads the definition of an index from a file. name, unless "", replaces its name.
func readDefinition(path, name string) (*models.SearchIndex, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("-create: %w", err)
	}
	d := &models.SearchIndex{}
	if err := json.Unmarshal(content, d); err != nil {
		return nil, fmt.Errorf("-create %s: %w", path, err)
	}
	if name != "" {
		d.Name = name
	}
	if d.Name == "" {
		return nil, fmt.Errorf("-create %s: the definition has no name; use -index NAME", path)
	}
	return d, nil
}

// same returns an error if the index was deleted and created again during the load, which loses the documents loaded
// before. A changed definition alone loses none, so same looks for the first document.
func (l *loading) same(ctx context.Context, r load.Report) error {
	now, err := l.service.GetIndex(context.WithoutCancel(ctx), l.definition.Name, nil)
	if err != nil || now.ETag == l.definition.ETag || r.FirstKey == "" {
		return connect.Failed(err)
	}
	client, err := l.service.Client(l.definition.Name)
	if err != nil {
		return err
	}
	_, err = search.GetDocument[json.RawMessage](context.WithoutCancel(ctx), client, r.FirstKey, nil)
	if errors.Is(err, search.ErrDocumentNotFound) {
		return failed(fmt.Errorf("index %s was deleted and created again during the load: document %q is gone; load everything again", l.definition.Name, r.FirstKey))
	}
	return connect.Failed(err)
}

// visible waits until queries return the last uploaded document, and no longer return the last deleted one. It does
// not wait for ever, because another program may change these documents, and permissions may hide them.
func (l *loading) visible(ctx context.Context, r load.Report) error {
	client, err := l.service.Client(l.definition.Name)
	if err != nil {
		return err
	}
	rows, err := search.NewRows(client, nil)
	if err != nil {
		return failed(fmt.Errorf("everything is loaded, but -until-visible cannot wait: %w", err))
	}
	waiting, cancel := context.WithTimeout(keyrange.Whole(ctx), l.Duration("patience"))
	defer cancel()
	if r.LastKey != "" {
		err = search.WaitVisible(waiting, rows, r.LastKey, nil)
	}
	if err == nil && r.LastDeletion != "" {
		err = search.WaitVisible(waiting, rows, r.LastDeletion, &search.VisibleOptions{Gone: true})
	}
	var late *search.NotVisibleError
	switch {
	case err != nil && ctx.Err() != nil:
		return exit.With(exit.Interrupted, errors.New("interrupted: everything is loaded, and queries may not find it yet"))
	case errors.As(err, &late):
		return exit.With(exit.Service, fmt.Errorf("everything is loaded, but queries do not show the change of document %q within -patience %v",
			late.Key, l.Duration("patience")))
	case errors.Is(err, search.ErrPartialView):
		return connect.Failed(fmt.Errorf("everything is loaded, but -until-visible cannot wait: %w", err))
	}
	return connect.Failed(err)
}
