package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/backup"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/verify"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func newVerifyCommand(stdout, stderr io.Writer) *cli.Command {
	return namedCommand(stdout, stderr, cli.Command{
		Name:      "verify",
		Usage:     "compare the documents of two indexes, backups, files or databases, by digests",
		ArgsUsage: "A B",
		Description: `A and B are each a backup directory, a file, - for the standard input, or else (if no such path exists)
the name of an index. Files have any format of azsearch load if the other side is an index, whose types
they need; else JSON or Parquet. The fields that both sides return are compared, in any order; vectors of
a file or database are rounded first, as the service does. The command prints both digests, and the first
keys that differ. With -query, one of A and B is the URL of a database, and the other the index that is
filled from it.

   azsearch verify hotels hotels-copy
   azsearch verify nightly hotels
   azsearch verify hotels.csv hotels
   azsearch verify -to-endpoint https://other.search.windows.net hotels hotels
   azsearch verify -query 'SELECT id, name FROM hotels' sqlite:shop.db hotels

Exit codes: 0 equal; 1 different, or a file is damaged; 2 usage; 3 service error.`,
		Flags: append(connect.ToFlags("B"),
			queryFlag(),
			&cli.StringFlag{Name: "index", Usage: "select the index `NAME` of a backup; by default the one named like the other side"},
			&cli.StringFlag{Name: "key", Usage: "use `FIELD` as the key, needed for two files; by default the key field of the index or backup"},
			&cli.IntFlag{Name: "in-flight", Usage: "read up to `N` key ranges concurrently; fewer while the service is busy or slows down", Value: 32},
		),
	}, 2, 2, func(ctx context.Context, c *serviceCall) (err error) {
		if err := c.between("in-flight", 1, 1000); err != nil {
			return err
		}
		v := &verifying{serviceCall: c}
		defer func() { err = errors.Join(err, v.close()) }()
		if c.args[0] == source.Stdin && c.args[1] == source.Stdin {
			return errors.New("both sides are the standard input: name another")
		}
		a, err := v.side(ctx, 0)
		if err != nil {
			return err
		}
		b, err := v.side(ctx, 1)
		if err != nil {
			return err
		}
		if c.String("key") != "" {
			v.key = c.String("key")
		}
		if v.key == "" {
			return errors.New("the key field is unknown for two files: use -key FIELD")
		}
		for _, what := range v.unseen {
			c.note("not compared: %s", what)
		}
		unseen := slices.Concat(v.fields[0], v.fields[1])
		a, b = without(a, v.fields[0], unseen), without(b, v.fields[1], unseen)
		if (v.fields[0] == nil) != (v.fields[1] == nil) { // one is a file or database
			a, b = narrowed(a, unseen), narrowed(b, unseen)
		}
		r, err := verify.Compare(ctx, a, b, v.key)
		if err != nil {
			if exit.Code(err) == exit.Incomplete { // the error is about a file
				return err
			}
			return connect.Failed(err)
		}
		return c.report(r)
	})
}

// report prints the digests of both arguments, and the differences.
func (c *serviceCall) report(r *verify.Result) error {
	a, b := c.args[0], c.args[1]
	if err := c.say("%s\t%d %s\t%s\n%s\t%d %s\t%s", a, r.A.Documents, amount.Noun(r.A.Documents, "document"), r.A, b, r.B.Documents, amount.Noun(r.B.Documents, "document"), r.B); err != nil || r.Equal() {
		return err
	}
	for _, d := range r.Differences {
		if err := c.say("%q: %s", d.Key, d.What); err != nil {
			return err
		}
	}
	return failed(fmt.Errorf("%s and %s differ", a, b))
}

// verifying is one run of the command.
type verifying struct {
	*serviceCall
	key      string
	services []*connect.Service
	unseen   []string                // what is not compared
	fields   [2][]models.SearchField // of the index or backup of each argument, nil for a file or database
	dir      string                  // of copies of pipes, "" without
}

// side opens argument i: a backup, a file, a database or an index.
func (v *verifying) side(ctx context.Context, i int) (verify.Side, error) {
	name, other := v.args[i], v.args[1-i]
	info, err := os.Stat(name)
	switch {
	case name == source.Stdin:
		return v.file(ctx, i, true)
	case err == nil && info.IsDir():
		m, err := backup.OpenManifest(name)
		if err != nil {
			return nil, err
		}
		x := m.Find(other)
		switch {
		case v.String("index") != "":
			x = m.Find(v.String("index"))
		case x == nil && len(m.Indexes) == 1:
			x = &m.Indexes[0]
		}
		if x == nil {
			return nil, fmt.Errorf("%s has %s: select one with -index NAME", name, amount.Of(len(m.Indexes), "index"))
		}
		v.key = x.Key
		for _, what := range x.LeftOut {
			v.leaveOut("%s, which %s does not have", what, name)
		}
		d, err := backup.Definition(name, x)
		if err != nil {
			return nil, err
		}
		v.fields[i], err = fieldsOf(d)
		return m.Side(name, x), err
	case err == nil:
		return v.file(ctx, i, !info.Mode().IsRegular())
	case database.Is(name):
		return v.rows(ctx, i)
	}
	service, err := v.open(i)
	if err != nil {
		return nil, err
	}
	x, d, err := openIndex(ctx, service, name, search.Filter{}, nil)
	if err != nil {
		return nil, err
	}
	if v.fields[i], err = fieldsOf(d); err != nil {
		return nil, err
	}
	if err := reached(ctx, x, name); err != nil {
		return nil, err
	}
	v.key = x.Key()
	for _, field := range x.Hidden {
		v.leaveOut("field %s, which index %s does not return", field, name)
	}
	return verify.Index{Index: x, InFlight: v.Int("in-flight")}, nil
}

// open opens the service of argument i.
func (v *verifying) open(i int) (*connect.Service, error) {
	service, err := []func(*cli.Command) (*connect.Service, error){connect.Open, connect.OpenTo}[i](v.Command)
	if err == nil {
		v.services = append(v.services, service)
	}
	return service, err
}

func (v *verifying) leaveOut(format string, args ...any) {
	if what := fmt.Sprintf(format, args...); !slices.Contains(v.unseen, what) {
		v.unseen = append(v.unseen, what)
	}
}

// file returns the documents of the file that is argument i: as documents of the index that is the other argument, or
// as they are. What can be read only once is copied first, because a comparison may read it again.
func (v *verifying) file(ctx context.Context, i int, once bool) (verify.Side, error) {
	var side verify.Side = verify.Lines(v.args[i])
	if other := v.args[1-i]; other != source.Stdin && !database.Is(other) {
		if _, err := os.Stat(other); err != nil {
			index, err := v.otherIndex(ctx, i, "file")
			if err != nil {
				return nil, err
			}
			side = v.converted(&index, v.args[i:i+1:i+1])
		}
	}
	if !once {
		return side, nil
	}
	if v.dir == "" {
		var err error
		if v.dir, err = os.MkdirTemp("", "azsearch"); err != nil {
			return nil, err
		}
	}
	name := filepath.Join(v.dir, strconv.Itoa(i)+".jsonl")
	return verify.Lines(name), failed(verify.Copy(ctx, side, name))
}

// rows returns the rows of the database that is argument i, as documents of the index that is the other argument.
func (v *verifying) rows(ctx context.Context, i int) (verify.Side, error) {
	if database.Is(v.args[1-i]) {
		return nil, errors.New("two databases cannot be compared: one of A and B must be the index filled from the other")
	}
	index, err := v.otherIndex(ctx, i, "database")
	if err != nil {
		return nil, err
	}
	url := v.args[i : i+1 : i+1]
	place, err := database.Parse(url[0])
	if err != nil {
		return nil, err
	}
	v.args = slices.Clone(v.args)
	v.args[i] = place.String() // printed name, without a password
	return v.converted(&index, url), nil
}

// otherIndex returns the definition of the index to compare argument i with.
func (v *verifying) otherIndex(ctx context.Context, i int, what string) (models.SearchIndex, error) {
	service, err := v.open(1 - i)
	if err != nil {
		return models.SearchIndex{}, err
	}
	index, err := service.GetIndex(ctx, v.args[1-i], nil)
	if err != nil {
		return index, connect.Failed(fmt.Errorf("%q is not an index to compare the %s with: %w", v.args[1-i], what, err))
	}
	return index, nil
}

// converted returns the records of a file or database as documents of an index.
func (v *verifying) converted(index *models.SearchIndex, of []string) verify.Side {
	return verify.Documents(func(ctx context.Context, yield func(json.RawMessage) error) error {
		return failed(v.eachDocument(ctx, index, of, nil, func(a models.RawAction) error {
			if a.Type != models.ActionTypeUpload {
				return failed(fmt.Errorf("the record with key %q has action %s: verify needs whole documents", a.Key, a.Type))
			}
			return yield(a.Document)
		}))
	})
}

// openIndex returns an index for reading, and its current definition.
func openIndex(ctx context.Context, service *connect.Service, name string, filter search.Filter, fields []string) (*keyrange.Index, *definitions.Definition, error) {
	d, err := definitions.Index(ctx, service, name)
	if err != nil {
		return nil, nil, connect.Failed(fmt.Errorf("%q is not an index that can be read: %w", name, err))
	}
	x, err := keyrange.Open(service, d, filter, fields)
	return x, d, err
}

// reached returns an error if some documents of an index cannot be read.
func reached(ctx context.Context, x *keyrange.Index, name string) error {
	if x.Unscannable == "" {
		return nil
	}
	n, err := x.Count(ctx)
	if err == nil && n > keyrange.Paged {
		err = fmt.Errorf("index %s: %s, so only %d of %s can be read", name, x.Unscannable, keyrange.Paged, amount.Of(n, "document"))
	}
	if err != nil {
		return connect.Failed(err)
	}
	return nil
}

func (v *verifying) close() (err error) {
	if v.dir != "" {
		err = os.RemoveAll(v.dir)
	}
	for _, s := range v.services {
		err = errors.Join(err, s.Close())
	}
	return err
}
