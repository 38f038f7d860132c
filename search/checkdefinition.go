package search

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/skills"
)

// Definitions are definitions that others refer to. CheckDefinition takes them.
type Definitions struct {
	Indexes     []models.SearchIndex
	DataSources []indexers.DataSource
	Skillsets   []skills.Skillset
}

// String returns the definitions with *** in place of secrets.
func (d Definitions) String() string {
	type fields Definitions
	return fmt.Sprintf("%+v", fields(d))
}

// LogValue implements slog.LogValuer with String.
func (d Definitions) LogValue() slog.Value { return slog.StringValue(d.String()) }

// CheckDefinition returns the problems for which the service would refuse a data source, a skillset or an indexer, or
// for which each run of the indexer would fail. For an index it checks only the name and the key. Nothing is sent:
//
//	err := search.CheckDefinition(indexer, search.Definitions{
//		Indexes: []models.SearchIndex{index}, Skillsets: []skills.Skillset{skillset},
//	})
//
// The error is a *CheckError that lists all problems, each as a *CheckProblem; Field is a path as in IndexChange:
// "skills/split.inputs/text". It checks names, values, and the inputs and outputs of skills, including cycles. If
// others holds the definitions that this one refers to, it checks mappings and projections, too: the index must have
// the fields, with types that accept the values. A reference to a definition that others lacks is skipped without a
// problem. So are numbers without a documented range, and an empty connection string, because an update keeps the
// stored one.
//
// An unknown path of the enriched document is assumed to be a field of the source, unless its parent is a value that
// has no members; that is a CheckReference.
func CheckDefinition[T models.SearchIndex | indexers.DataSource | indexers.Indexer | skills.Skillset](definition T, others Definitions) error {
	b, err := json.Marshal(definition)
	if err != nil {
		return fmt.Errorf("search: the definition: %w", err)
	}
	var faults []refusal.Fault
	e := &CheckError{}
	switch d := any(definition).(type) {
	case indexers.DataSource:
		e.Definition = fmt.Sprintf("data source %q", d.Name)
		faults, err = refusal.DataSource(b)
	case models.SearchIndex:
		e.Definition = fmt.Sprintf("index %q", d.Name)
		faults, err = refusal.Index(b)
	case skills.Skillset:
		e.Definition = fmt.Sprintf("skillset %q", d.Name)
		faults, err = refusal.Skillset(b, others.find)
	case indexers.Indexer:
		e.Definition = fmt.Sprintf("indexer %q", d.Name)
		faults, err = refusal.Indexer(b, others.find)
	}
	if err != nil || len(faults) == 0 {
		return err
	}
	for _, f := range faults {
		e.Problems = append(e.Problems, problemOf(f))
	}
	return e
}

func problemOf(f refusal.Fault) *CheckProblem {
	return &CheckProblem{Kind: CheckKind(f.Kind), Field: f.Path, Have: f.Have, Want: f.Want, Problem: f.Problem, Hint: f.Fix}
}

// find returns a definition as JSON, nil if others lacks it.
func (d Definitions) find(collection, name string) json.RawMessage {
	switch collection {
	case "indexes":
		return findDefinition(d.Indexes, indexKind, name)
	case "datasources":
		return findDefinition(d.DataSources, dataSourceKind(), name)
	}
	return findDefinition(d.Skillsets, skillsetKind(), name)
}

func findDefinition[T any](all []T, kind *definitionKind[T], name string) json.RawMessage {
	for i := range all {
		if kind.name(&all[i]) == name {
			b, _ := json.Marshal(all[i]) // nil if it cannot be encoded; the service explains that better
			return b
		}
	}
	return nil
}
