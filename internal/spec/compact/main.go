// Command compact writes spec.json from the folder of extracted specifications in AZSEARCH_SPEC: see package spec.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

type typ struct {
	Kind, Ref     string
	Items, Values *typ
}

func (t *typ) String() string {
	switch {
	case t == nil:
		return "any"
	case t.Items != nil:
		return "[]" + t.Items.String()
	case t.Values != nil:
		return "map:" + t.Values.String()
	case t.Kind == "enum":
		return "enum:" + t.Ref
	case t.Ref != "":
		return "ref:" + t.Ref
	case t.Kind == "literal":
		return "string"
	}
	return t.Kind
}

type property struct {
	Wire                       string
	Type                       *typ
	Required, ReadOnly, Secret bool
}

type parameter struct{ Wire string }

type file struct {
	APIVersion string
	Source     struct {
		Package, Version, SHA256 string
		Derived                  bool
	}
	Models map[string]struct {
		Base                                      string
		DiscriminatorValue, DiscriminatorProperty string
		Properties                                []property
	}
	Enums map[string]struct {
		Values []struct{ Wire any }
	}
	Operations []struct {
		Name, Method, Path string
		Query, Headers     []parameter
	}
}

// model and operation have the form of package spec.
type model struct {
	Base          string            `json:"base,omitempty"`
	Discriminator string            `json:"discriminator,omitempty"`
	In            string            `json:"in"`
	Properties    map[string]string `json:"properties"`
}

type operation struct {
	In         string            `json:"in"`
	Parameters map[string]string `json:"parameters"`
}

func main() {
	log.SetFlags(0)
	folder := os.Getenv("AZSEARCH_SPEC")
	if folder == "" {
		log.Fatal("compact: AZSEARCH_SPEC is not set, want the folder of the extracted specifications")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "20??-??-??*.json")) // in the order of their dates
	if err != nil || len(paths) == 0 {
		log.Fatalf("compact: no specification in %s: %v", folder, err)
	}
	var files []file
	for _, path := range paths {
		if strings.Count(filepath.Base(path), ".") > 1 {
			continue // a difference between two specifications
		}
		b, err := os.ReadFile(path)
		files = append(files, file{})
		if i := len(files) - 1; err == nil {
			err = json.Unmarshal(b, &files[i])
		}
		if err != nil {
			log.Fatalf("compact: %s: %v", path, err)
		}
	}
	if err := os.WriteFile("spec.json", write(files), 0o644); err != nil { //nolint:gosec // a file of the tree
		log.Fatal("compact: ", err)
	}
}

// old reports whether a file is from a generator with other type names. It uses only those of its types that have the
// same name or discriminator.
func (f *file) old() bool { return strings.HasPrefix(f.Source.Version, "11.") }

func write(files []file) []byte {
	models, enums, operations := map[string]*model{}, map[string]map[string]string{}, map[string]*operation{}
	byDiscriminator := map[string]string{}
	for _, f := range files {
		if f.old() {
			continue
		}
		for name, m := range f.Models {
			models[name] = &model{Base: m.Base, Properties: map[string]string{}}
			if m.DiscriminatorValue != "" {
				models[name].Discriminator = m.DiscriminatorProperty + "=" + m.DiscriminatorValue
				byDiscriminator[m.DiscriminatorValue+m.Base] = name
			}
		}
		for name := range f.Enums {
			enums[name] = map[string]string{}
		}
	}
	for i, f := range files {
		digit := fmt.Sprint(i)
		for name, m := range f.Models {
			to := models[name]
			if to == nil && m.DiscriminatorValue != "" {
				to = models[byDiscriminator[m.DiscriminatorValue+m.Base]]
			}
			if to == nil {
				continue
			}
			to.In += digit
			for _, p := range m.Properties {
				text, seen, _ := strings.Cut(to.Properties[p.Wire], " ")
				if own := p.String(); text == "" || !strings.HasSuffix(f.APIVersion, "preview") {
					text = own
				}
				to.Properties[p.Wire] = text + " " + seen + digit
			}
		}
		for name, e := range f.Enums {
			if to := enums[name]; to != nil {
				for _, v := range e.Values {
					to[fmt.Sprint(v.Wire)] += digit
				}
			}
		}
		for _, o := range f.Operations {
			route := o.Method + " " + variable.ReplaceAllString(o.Path, "{}")
			for _, kind := range []string{"stream", "multipart"} {
				if strings.Contains(o.Name, kind) { // another body on the same route
					route += " " + kind
				}
			}
			to := operations[route]
			if to == nil {
				to = &operation{Parameters: map[string]string{}}
				operations[route] = to
			}
			to.In = with(to.In, digit)
			for _, p := range slices.Concat(o.Query, o.Headers) {
				to.Parameters[p.Wire] = with(to.Parameters[p.Wire], digit)
			}
		}
	}
	return encode(files, models, enums, operations)
}

// variable matches a path parameter.
var variable = regexp.MustCompile(`\{\w+\}`)

// with returns the set with a digit added, unless it is the last one already.
func with(in, digit string) string { return strings.TrimSuffix(in, digit) + digit }

// String returns the type and the flags: ! for required, R for read only, S for secret.
func (p property) String() string {
	text := p.Type.String() + ","
	if p.Required {
		text += "!"
	}
	if p.ReadOnly {
		text += "R"
	}
	if p.Secret {
		text += "S"
	}
	return text
}

// encode writes one line per model, enumeration and operation.
func encode(files []file, models map[string]*model, enums map[string]map[string]string, operations map[string]*operation) []byte {
	var b bytes.Buffer
	sources, versions := make([]string, len(files)), make([]string, len(files))
	for i, f := range files {
		versions[i] = f.APIVersion
		sources[i] = f.APIVersion + ": "
		if f.Source.Derived {
			sources[i] += "derived from 2026-04-01 and 2026-08-01-preview, by its changelog"
		} else {
			sources[i] += fmt.Sprintf("%s %s, SHA-256 %s", f.Source.Package, f.Source.Version, f.Source.SHA256)
		}
	}
	b.WriteString("{\n\"source\": " + line(sources) + ",\n\"versions\": " + line(versions))
	section(&b, "models", models)
	section(&b, "enums", enums)
	section(&b, "operations", operations)
	b.WriteString("\n}\n")
	return b.Bytes()
}

func section[T any](b *bytes.Buffer, name string, items map[string]T) {
	fmt.Fprintf(b, ",\n%q: {", name)
	for i, key := range slices.Sorted(maps.Keys(items)) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "\n%q: %s", key, line(items[key]))
	}
	b.WriteString("\n}")
}

func line(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		log.Fatal("compact: ", err)
	}
	return string(b)
}
