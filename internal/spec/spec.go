// Package spec holds a summary of the specifications of the service's REST API, for the tests of this module.
// spec.json has the names, types and versions of models, enumerations and operations, and no text of the
// specifications.
//
// It is made by
//
//	AZSEARCH_SPEC=folder go generate ./internal/spec
//
// from files that were extracted from the Python package azure-search-documents (Copyright (c) Microsoft Corporation,
// MIT License); its "source" lists the versions and their SHA-256. The content of 2026-10-01 was derived by hand from
// its changelog and the available quarter of its file. Availability is a set of versions, because a stable version
// may lack a member of an older preview. For types that were renamed after 2025-09-01 and 2025-11-01-preview, the
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

// Spec is the summary.
type Spec struct {
	Versions   []string
	Models     map[string]Model
	Enums      map[string]map[string]string // the Set of each value
	Operations map[string]Operation         // by route: "GET /indexes('{}')"
}

// Model is the type of a JSON object.
type Model struct {
	Base, Discriminator string // "kind=azureBlob"
	In                  Set
	Properties          map[string]Property // by JSON name
}

// Property is a member of a model: its type, a comma, flags ("!" for required, "R" for read only, "S" for secret), a
// space, and its Set.
type Property string

// Operation is a request of the API.
type Operation struct {
	In         Set
	Parameters map[string]Set // query parameters and headers
}

// Set is a set of versions, one digit each: its position in Versions.
type Set string

// Load returns the specification.
func Load() (*Spec, error) {
	var s Spec
	return &s, json.Unmarshal(data, &s)
}

// Type returns the type: "string", "[]enum:RegexFlags", "ref:Alias", "map:string".
func (p Property) Type() string { t, _, _ := strings.Cut(string(p), ","); return t }

// Is reports whether the property has the flag.
func (p Property) Is(flag string) bool {
	_, rest, _ := strings.Cut(string(p), ",")
	flags, _, _ := strings.Cut(rest, " ")
	return strings.Contains(flags, flag)
}

// In returns the versions that have the property.
func (p Property) In() Set { _, in, _ := strings.Cut(string(p), " "); return Set(in) }

// Stable reports whether the set contains a stable version.
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

// Sets returns the versions of each item: "SearchIndex.fields", "QueryType=full", "GET /aliases", "GET /aliases
// pageSize".
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

// StableModels returns the names of the models in stable versions.
func (s *Spec) StableModels() []string {
	names := slices.Collect(maps.Keys(s.Models))
	return slices.Sorted(slices.Values(slices.DeleteFunc(names, func(n string) bool { return !s.Stable(s.Models[n].In) })))
}
