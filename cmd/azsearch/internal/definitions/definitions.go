// Package definitions keeps the definitions of a service as files, one per definition, for review and version
// control:
//
//	indexes/hotels.json
//	datasources/hotels-sql.json
//
// Secrets are replaced by placeholders such as ${DATASOURCES_HOTELS_SQL_CREDENTIALS_CONNECTIONSTRING}. Expand
// replaces these by values from the environment.
package definitions

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/wire"
)

// Definition is the definition of one index, alias, data source and so on.
type Definition struct {
	Kind    *Kind
	Name    string
	JSON    json.RawMessage // indented, without its ETag, with placeholders for secrets
	ETag    string          // of the version read from a service, else ""
	Secrets []Secret        // the secrets replaced by placeholders
}

// String names a definition in messages: data source "hotels-sql".
func (d *Definition) String() string { return fmt.Sprintf("%s %q", d.Kind.Noun, d.Name) }

// File returns the relative path of its file, with slashes.
func (d *Definition) File() string { return d.Kind.Folder + "/" + url.PathEscape(d.Name) + ".json" }

// Named returns the definition under another name. Its placeholders keep their names.
func (d *Definition) Named(name string) Definition {
	other := *d
	other.Name = name
	other.JSON = indented(rewrite(d.JSON, nil, false, func(path []string, value []byte, _ bool) []byte {
		if len(path) == 1 && path[0] == "name" {
			value, _ = json.Marshal(name) // a string always marshals
		}
		return value
	}))
	return other
}

// Equal reports whether two definitions are the same, whatever the names of their placeholders: the secrets cannot be
// compared.
func (d *Definition) Equal(other *Definition) bool {
	return bytes.Equal(d.JSON, other.JSON) || bytes.Equal(d.anonymous(), other.anonymous())
}

// Set is a list of definitions, ordered by Kinds, then by name.
type Set []Definition

// Read reads all definitions of the given kinds from a service; without kinds, those of all kinds.
func Read(ctx context.Context, service *connect.Service, kinds ...*Kind) (Set, error) {
	if len(kinds) == 0 {
		kinds = Kinds
	}
	found, errs := make([]Set, len(Kinds)), make([]error, len(Kinds))
	var reading sync.WaitGroup
	for i, k := range Kinds {
		if slices.Contains(kinds, k) {
			reading.Go(func() { found[i], errs[i] = k.read(ctx, service) })
		}
	}
	reading.Wait()
	all := slices.Concat(found...)
	taken := map[string]int{}
	for i := range all {
		all[i].hide(taken)
	}
	return all, cmp.Or(errs...)
}

// read reads the definitions of a kind, ordered by name.
func (k *Kind) read(ctx context.Context, service *connect.Service) (s Set, err error) {
	for content, err := range k.list(ctx, service) {
		if err != nil {
			return nil, connect.Failed(err)
		}
		d, err := parse(k, content)
		if err != nil {
			return nil, err
		}
		s = append(s, d)
	}
	slices.SortFunc(s, func(a, b Definition) int { return cmp.Compare(a.Name, b.Name) })
	return s, nil
}

// Of returns the definitions of a kind.
func (s Set) Of(k *Kind) (of Set) {
	for _, d := range s {
		if d.Kind == k {
			of = append(of, d)
		}
	}
	return of
}

// Find returns a definition, nil if it is not in the set.
func (s Set) Find(k *Kind, name string) *Definition {
	if i := slices.IndexFunc(s, func(d Definition) bool { return d.Kind == k && d.Name == name }); i >= 0 {
		return &s[i]
	}
	return nil
}

// Write writes one file per definition below dir, each atomically and synced. It leaves other files alone.
func (s Set) Write(dir string) error {
	for i := range s {
		d := &s[i]
		folder, err := disk.Open(filepath.Join(dir, d.Kind.Folder))
		if err != nil {
			return err
		}
		if err := disk.ReplaceBeside(folder, filepath.Base(d.File()), func(w *bufio.Writer) error {
			_, err := w.Write(d.JSON)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Open reads the definitions in a directory with the layout of Write, or one file, whose parent directory names its
// kind. The error lists every invalid file.
func Open(path string) (s Set, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		path, err = filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		folder := filepath.Base(filepath.Dir(path))
		for _, k := range Kinds {
			if k.Folder == folder {
				d, err := openFile(k, path)
				return Set{d}, err
			}
		}
		return nil, fmt.Errorf("%s: the folder does not name a kind of definition; put the file in one of %s", path, strings.Join(folders(), ", "))
	}
	var errs []error
	for _, k := range Kinds {
		entries, err := os.ReadDir(filepath.Join(path, k.Folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, e := range entries {
			if e.IsDir() || filepath.Ext(e.Name()) != ".json" {
				continue
			}
			d, err := openFile(k, filepath.Join(path, k.Folder, e.Name()))
			if err == nil && s.Find(k, d.Name) != nil {
				err = fmt.Errorf("%s: %s is also defined in another file", filepath.Join(path, k.Folder, e.Name()), &d)
			}
			errs = append(errs, err)
			s = append(s, d)
		}
	}
	return s, errors.Join(errs...)
}

func openFile(k *Kind, path string) (Definition, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Definition{}, err
	}
	d, err := parse(k, bytes.TrimPrefix(content, []byte("\ufeff")))
	if err != nil {
		return d, fmt.Errorf("%s: %w", path, err)
	}
	d.JSON = indented(d.JSON)
	_, _ = d.Expand(func(name string) (string, bool) {
		d.Secrets = append(d.Secrets, Secret{Variable: name})
		return "", false
	})
	return d, nil
}

// parse extracts the name and ETag of a definition, and removes the OData members. It does not check the rest.
func parse(k *Kind, content []byte) (Definition, error) {
	d := Definition{Kind: k}
	if at, ok := wire.Check(content); !ok {
		before := string(content[:at])
		return d, fmt.Errorf("not JSON at line %d, column %d", strings.Count(before, "\n")+1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])+1)
	}
	var members []byte
	err := wire.EachMember(content, func(name, value []byte) bool {
		if wire.Quotes(name, "name") {
			d.Name, _ = wire.Unquote(value)
		}
		switch text, _ := wire.Unquote(name); {
		case text == "@odata.etag":
			d.ETag, _ = wire.Unquote(value)
		case !strings.HasPrefix(text, "@odata.etag") && text != "@odata.context":
			members = append(append(append(append(members, ','), name...), ':'), value...)
		}
		return true
	})
	if err != nil {
		return d, err
	}
	if d.Name == "" {
		return d, errors.New("the definition has no name")
	}
	members[0] = '{'
	d.JSON = append(members, '}')
	return d, nil
}

func indented(content []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, content, "", "  ") // the content is JSON
	b.WriteByte('\n')
	return b.Bytes()
}

func folders() (names []string) {
	for _, k := range Kinds {
		names = append(names, k.Folder)
	}
	return names
}
