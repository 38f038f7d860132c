// Package spec is for the tests of this module: it holds what the specifications of the
// service's REST API say, in short. spec.json has the names, types and versions of models,
// enumerations and operations, and no text of the specifications.
//
// It is made by
//
//	AZSEARCH_SPEC=folder go generate ./internal/spec
//
// of files that were extracted from the Python package azure-search-documents (Copyright (c)
// Microsoft Corporation, MIT License); its "source" names the versions and their SHA-256.
// What 2026-10-01 has was derived by hand from its changelog and the quarter of its file
// that was read. Availability is a set of versions: a stable version may lack what an older
// preview had. Of types that have been renamed since 2025-09-01 and 2025-11-01-preview the
// sets lack these two.
package spec

import (
	_ "embed" // spec.json
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

//go:generate go run ./compact

//go:embed spec.json
var data []byte

// Spec is the whole.
type Spec struct {
	Versions   []string
	Models     map[string]Model
	Enums      map[string]map[string]string // by value: its Set
	Operations map[string]Operation         // by route: "GET /indexes('{}')"
}

// Model is an object.
type Model struct {
	Base, Discriminator string // "kind=azureBlob"
	In                  Set
	Properties          map[string]Property // by their names in JSON
}

// Property is a member of a model: its type, a comma, flags ("!" for required, "R" for
// read only, "S" for secret), a space, and its Set.
type Property string

// Operation is a request.
type Operation struct {
	In         Set
	Parameters map[string]Set // of the query, and headers
}

// Set is a set of versions, a digit each: the position in Versions.
type Set string

// Load returns the specification.
func Load() (*Spec, error) {
	var s Spec
	return &s, json.Unmarshal(data, &s)
}

// Type returns the type: "string", "[]enum:RegexFlags", "ref:Alias", "map:string".
func (p Property) Type() string { t, _, _ := strings.Cut(string(p), ","); return t }

// Is reports whether the property has a flag.
func (p Property) Is(flag string) bool {
	_, rest, _ := strings.Cut(string(p), ",")
	flags, _, _ := strings.Cut(rest, " ")
	return strings.Contains(flags, flag)
}

// In returns the versions that have the property.
func (p Property) In() Set { _, in, _ := strings.Cut(string(p), " "); return Set(in) }

// Stable reports whether a stable version is in the set.
func (s *Spec) Stable(in Set) bool {
	return slices.ContainsFunc(s.Names(in), func(v string) bool { return !strings.Contains(v, "preview") })
}

// Names returns the versions of a set.
func (s *Spec) Names(in Set) []string {
	var names []string
	for _, digit := range in {
		names = append(names, s.Versions[digit-'0'])
	}
	return names
}

// Sets returns the versions of every item: "SearchIndex.fields", "QueryType=full",
// "GET /aliases", "GET /aliases pageSize".
func (s *Spec) Sets() map[string]Set {
	sets := map[string]Set{}
	for name, m := range s.Models {
		for wire, p := range m.Properties {
			sets[name+"."+wire] = p.In()
		}
	}
	for name, values := range s.Enums {
		for value, in := range values {
			sets[name+"="+value] = Set(in)
		}
	}
	for name, o := range s.Operations {
		sets[name] = o.In
		for parameter, in := range o.Parameters {
			sets[name+" "+parameter] = in
		}
	}
	return sets
}

// StableModels returns the names of the models that a stable version has.
func (s *Spec) StableModels() []string {
	names := slices.Collect(maps.Keys(s.Models))
	return slices.Sorted(slices.Values(slices.DeleteFunc(names, func(n string) bool { return !s.Stable(s.Models[n].In) })))
}
