package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/jqfilter"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/ledger"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/sink"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/verify"
	"github.com/go-azsearch/azsearch/search"
)

// RestoreOptions are the settings of a restore.
type RestoreOptions struct {
	Service   *connect.Service
	Dir       string
	Patterns  []string // of index names; none: everything in the backup
	As        string   // the new name of the only index that matches, which is restored without its aliases; "": the old names
	InFlight  int      // most concurrent requests
	Patience  time.Duration
	JQ        *jqfilter.Filter                     // replaces each document by its results; nil: no change
	Overwrite bool                                 // replace different definitions, and add documents to indexes that have some
	Lookup    func(variable string) (string, bool) // returns the value of a secret
	Say       func(format string, args ...any)
}

// Restore is a running restore. The right column is the state that a crash in a step leaves, and what the next run
// does:
//
//	R1 write restore.jsonl with its header    no file, or a complete one: it starts or continues
//	R2 create definitions                     some exist and equal the backup: it leaves them
//	R3 send the documents of a file           some are in the index: it sends the file again, which changes nothing
//	R4 append a line to restore.jsonl, sync   a partial line is ignored; a complete line: the documents are in the index
//	R5 compare index and backup               all lines exist: it sends nothing again
//	R6 create what reads from indexes         as R2; indexers start to run, so this follows the comparison
//	R7 remove restore.jsonl                   without the file it finds documents in the index, and refuses
type Restore struct {
	RestoreOptions
	manifest *Manifest // with the new name of a renamed index
	set      definitions.Set
	contents map[string]json.RawMessage // by file, with secrets
	exists   map[string]bool            // by file: exists and equals the backup
	state    *ledger.Ledger
	looks    int // maximum number of comparisons of an index; queries show documents later than the service accepts them

	Sent  atomic.Int64
	Total int64
}

// BeginRestore reads the backup, and returns an error if it cannot be restored. It changes nothing in the service.
func BeginRestore(ctx context.Context, o RestoreOptions) (*Restore, error) {
	r := &Restore{RestoreOptions: o, looks: 6, contents: map[string]json.RawMessage{}, exists: map[string]bool{}}
	var err error
	if r.manifest, err = OpenManifest(r.Dir); err != nil {
		return nil, err
	}
	if r.set, err = definitions.Open(filepath.Join(r.Dir, definitionsFolder)); err != nil {
		return nil, err
	}
	r.set, err = Select(r.set, r.Patterns)
	if errors.Is(err, errNoMatch) {
		return nil, fmt.Errorf("%w; -as NEW restores the index that -index selects under another name", err)
	}
	if err != nil {
		return nil, err
	}
	for _, d := range r.set.Of(definitions.Indexes) {
		if x := r.manifest.Find(d.Name); x != nil && fingerprint(d.JSON) != x.Definition && !r.Overwrite {
			return nil, fmt.Errorf("%s: %s differs from the manifest: the file was damaged or changed; -overwrite restores it as it is", r.Dir, d.File())
		}
	}
	job := restoreJob{Endpoint: r.Service.Endpoint(), Backup: fingerprint(mustJSON(r.manifest)), JQ: r.JQ.String(), As: r.As}
	if len(r.Patterns) > 0 {
		for _, d := range r.set.Of(definitions.Indexes) {
			job.Indexes = append(job.Indexes, d.Name)
		}
	}
	if err := r.rename(); err != nil {
		return nil, err
	}
	var errs []error
	for i := range r.set {
		content, err := r.set[i].Expand(r.Lookup)
		errs = append(errs, err)
		r.contents[r.set[i].File()] = content
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if r.state, err = ledger.Open(filepath.Join(r.Dir, restoreName), string(mustJSON(job))); err != nil {
		return nil, err
	}
	return r, r.check(ctx)
}

const restoreName = "restore.jsonl"

// restoreJob identifies a restore, so that another one does not continue from its file: check lets a restore that
// continues add documents to indexes that have some.
type restoreJob struct {
	Endpoint string   `json:"endpoint"`
	Backup   string   `json:"backup"`
	JQ       string   `json:"jq,omitempty"`
	As       string   `json:"as,omitempty"`
	Indexes  []string `json:"indexes,omitempty"` // that Patterns select; none: everything
}

// rename gives the only index its new name, and leaves out its aliases, which may lead to the index of the old name.
func (r *Restore) rename() error {
	indexes := r.set.Of(definitions.Indexes)
	switch {
	case r.As == "":
		return nil
	case len(indexes) != 1:
		return fmt.Errorf("-as names one index, and %s match; select one with -index NAME", amount.Of(len(indexes), "index"))
	case r.manifest.Find(indexes[0].Name) == nil:
		return nil // check says it
	}
	if _, err := r.Service.Client(r.As); err != nil { // the name is not valid
		return fmt.Errorf("-as: %w", err)
	}
	var set definitions.Set
	for _, d := range r.set {
		switch d.Kind {
		case definitions.Indexes:
			d = d.Named(r.As)
		case definitions.SynonymMaps:
		default:
			r.Say("left out: %s, because -as restores one index", &d)
			continue
		}
		set = append(set, d)
	}
	r.set = set
	x := *r.manifest.Find(indexes[0].Name)
	x.Folder, x.Name = x.Name, r.As
	r.manifest.Indexes = []Index{x}
	return nil
}

// The index is new or empty, so none of the files noted as sent are in it: remove these notes.
func (r *Restore) forget(index string) {
	maps.DeleteFunc(r.state.Done, func(file string, _ bool) bool { return strings.HasPrefix(file, index+"/") })
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a manifest always marshals
	}
	return b
}

// check compares the backup with the definitions and documents of the service, and returns all conflicts.
func (r *Restore) check(ctx context.Context) error {
	live, err := definitions.Read(ctx, r.Service)
	if err != nil {
		return err
	}
	if err := r.taken(live); err != nil {
		return err
	}
	var errs []error
	for i := range r.set {
		d := &r.set[i]
		is := live.Find(d.Kind, d.Name)
		if is == nil {
			if d.Kind == definitions.Indexes {
				r.forget(d.Name)
			}
			continue
		}
		r.exists[d.File()] = is.Equal(d) || r.JQ != nil && d.Kind == definitions.Indexes
		if !r.exists[d.File()] && !r.Overwrite {
			errs = append(errs, fmt.Errorf("%s exists and differs", d))
		}
		if d.Kind != definitions.Indexes {
			continue
		}
		client, err := r.Service.Client(d.Name)
		if err != nil {
			return err
		}
		n, err := keyrange.Count(ctx, client)
		if err != nil {
			return connect.Failed(err)
		}
		switch {
		case n == 0:
			r.forget(d.Name)
		case !r.Overwrite && !r.state.Resumed:
			errs = append(errs, fmt.Errorf("%s has %s", d, amount.Of(n, "document")))
		}
	}
	for _, d := range r.set.Of(definitions.Indexes) {
		x := r.manifest.Find(d.Name)
		if x == nil {
			return fmt.Errorf("%s: the manifest has no index %q", r.Dir, d.Name)
		}
		r.Total += x.Documents
		for _, what := range x.LeftOut {
			r.Say("index %s: the backup does not have %s", x.Name, what)
		}
	}
	if len(errs) > 0 {
		errs = append(errs, errors.New("nothing was changed; -overwrite replaces definitions and adds documents"))
	}
	return errors.Join(errs...)
}

// taken returns an error for names of indexes that are aliases in the service, and the reverse. Overwriting does not
// help, because the service keeps one space of names for both.
func (r *Restore) taken(live definitions.Set) error {
	var errs []error
	for _, d := range r.set.Of(definitions.Indexes) {
		if live.Find(definitions.Aliases, d.Name) != nil {
			errs = append(errs, fmt.Errorf("%q is the name of an alias, so no index can have it; choose another name with -as", d.Name))
		}
	}
	for _, d := range r.set.Of(definitions.Aliases) {
		if live.Find(definitions.Indexes, d.Name) != nil {
			errs = append(errs, fmt.Errorf("%q is the name of an index, so no alias can have it", d.Name))
		}
	}
	return errors.Join(errs...)
}

// Run restores definitions and documents, and compares the indexes with the backup.
func (r *Restore) Run(ctx context.Context) (err error) {
	defer func() {
		err = errors.Join(interrupted(ctx, err, "run it again to continue"), r.state.Close())
	}()
	if err := r.state.Begin(); err != nil { // R1
		return err
	}
	if n := len(r.state.Done); n > 0 {
		r.Say("continuing; sent already: %s", amount.Of(n, "file"))
	}
	first := []*definitions.Kind{definitions.SynonymMaps, definitions.Indexes}
	if err := r.create(ctx, first...); err != nil { // R2
		if !r.state.Resumed { // without documents there is nothing to continue, so another restore may begin
			err = errors.Join(err, r.state.Remove())
		}
		return err
	}
	for _, d := range r.set.Of(definitions.Indexes) {
		if err := r.documents(ctx, r.manifest.Find(d.Name)); err != nil { // R3, R4
			return err
		}
	}
	for _, d := range r.set.Of(definitions.Indexes) {
		if r.JQ != nil {
			break
		}
		if err := r.verify(ctx, &d); err != nil { // R5
			return err
		}
	}
	if err := r.create(ctx, slices.DeleteFunc(slices.Clone(definitions.Kinds), func(k *definitions.Kind) bool { return slices.Contains(first, k) })...); err != nil { // R6
		return err
	}
	if n := len(r.set.Of(definitions.Indexers)); n > 0 {
		r.Say("restored %s, to run on schedule", amount.Of(n, "indexer"))
	}
	return r.state.Remove() // R7
}

func (r *Restore) create(ctx context.Context, kinds ...*definitions.Kind) error {
	for _, k := range kinds {
		for _, d := range r.set.Of(k) {
			if r.exists[d.File()] {
				continue
			}
			send := k.Create
			if r.Overwrite {
				send = k.Put
			}
			if err := send(ctx, r.Service, r.contents[d.File()]); err != nil {
				return fmt.Errorf("%s: %w", &d, err)
			}
		}
	}
	return nil
}

// documents sends the documents of an index.
func (r *Restore) documents(ctx context.Context, x *Index) (err error) {
	d := r.set.Find(definitions.Indexes, x.Name)
	index, err := keyrange.Open(r.Service, d, search.Filter{}, nil)
	if err != nil {
		return err
	}
	to, err := sink.Open(ctx, index.Client, r.InFlight, r.Patience)
	if err != nil {
		return err
	}
	finished, noted := r.state.Noting() // R4
	left := func(yield func(*File, error) bool) {
		for i := range x.Files {
			f := &x.Files[i]
			if r.state.Done[x.Name+"/"+f.Name] {
				r.Sent.Add(f.Documents)
			} else if !yield(f, nil) {
				return
			}
		}
	}
	err = keyrange.Each(ctx, 4, left, func(ctx context.Context, f *File) error {
		sent := to.Part(func() { finished <- x.Name + "/" + f.Name })
		add := func(document []byte) error {
			key, err := index.KeyOf(document)
			if err != nil {
				return err
			}
			return sent.Add(key, document, func() { r.Sent.Add(1) })
		}
		for document, err := range r.manifest.Documents(r.Dir, x, f) {
			if err != nil {
				return exit.With(exit.Incomplete, err)
			}
			if r.JQ != nil {
				err = r.JQ.JSON(ctx, document, add)
			} else {
				err = add(document)
			}
			if err != nil {
				key, _ := index.KeyOf(document) // "" if -jq creates the key
				return sink.Of(key, err)
			}
		}
		sent.End() // the digest of the file matched
		return nil
	})
	closed := to.Close()
	if err == nil {
		err = closed
	}
	return errors.Join(err, noted())
}

// verify compares an index with its backup: by the digest of the manifest, and if that differs document by document.
func (r *Restore) verify(ctx context.Context, d *definitions.Definition) error {
	x := r.manifest.Find(d.Name)
	index, err := keyrange.Open(r.Service, d, search.Filter{}, nil)
	if err != nil {
		return err
	}
	want, err := x.Sum()
	if err != nil {
		return err
	}
	live := verify.Index{Index: index, InFlight: r.InFlight}
	sum, err := verify.Sum(ctx, live)
	if err == nil && sum != want {
		var result *verify.Result
		if result, err = verify.Until(ctx, r.looks, r.manifest.Side(r.Dir, x), live, x.Key); err == nil && !result.Equal() {
			return exit.With(exit.Incomplete, fmt.Errorf("index %s has %s with the digest %s, the backup %s with %s, for example %v",
				x.Name, amount.Of(result.B.Documents, "document"), result.B, humanize.Comma(result.A.Documents), result.A, result.Differences))
		}
	}
	if err != nil {
		return connect.Failed(err)
	}
	r.Say("index %s: %s, digest %s, the same as in the backup", x.Name, amount.Of(want.Documents, "document"), want)
	return nil
}

// Side returns the documents of an index in a backup, for a comparison.
func (m *Manifest) Side(dir string, x *Index) verify.Side {
	var files []iter.Seq2[json.RawMessage, error]
	for i := range x.Files {
		files = append(files, m.Documents(dir, x, &x.Files[i]))
	}
	return verify.Files(files)
}

// Definition returns the definition of an index in a backup.
func Definition(dir string, x *Index) (*definitions.Definition, error) {
	d := &definitions.Definition{Kind: definitions.Indexes, Name: x.Name}
	set, err := definitions.Open(filepath.Join(dir, definitionsFolder, d.File()))
	if err != nil {
		return nil, exit.With(exit.Incomplete, err)
	}
	return &set[0], nil
}
