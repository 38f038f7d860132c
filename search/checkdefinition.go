package search

import (
	"encoding/json"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/skills"
)

// Definitions are definitions that others refer to, for CheckDefinition.
type Definitions struct {
	Indexes     []models.SearchIndex
	DataSources []indexers.DataSource
	Skillsets   []skills.Skillset
}

// CheckDefinition says what the service would refuse in a data source, a skillset or an indexer,
// or what would make each run of the indexer fail. Nothing is sent:
//
//	err := search.CheckDefinition(indexer, search.Definitions{
//		Indexes: []models.SearchIndex{index}, Skillsets: []skills.Skillset{skillset},
//	})
//
// The error is a *CheckError with a *CheckProblem for each problem, all at once; Field is a path as
// in IndexChange: "skills/split.inputs/text". It is about names and values, inputs and outputs of
// skills, cycles among them, and with the definitions that this one refers to about mappings
// and projections: that the index has the fields, with types that can take what they get. A reference
// to something that is not in others is not followed, and not a problem.
//
// Paths of the enriched document that no skill writes are taken as fields of the source.
func CheckDefinition[T indexers.DataSource | indexers.Indexer | skills.Skillset](definition T, others Definitions) error {
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
		e.Problems = append(e.Problems, &CheckProblem{Kind: CheckKind(f.Kind), Field: f.Path, Have: f.Have, Want: f.Want, Problem: f.Problem, Hint: f.Fix})
	}
	return e
}

// find returns a definition as JSON, nil if it is not there.
func (d Definitions) find(collection, name string) json.RawMessage {
	switch collection {
	case "indexes":
		return findDefinition(d.Indexes, indexKind, name)
	case "datasources":
		return findDefinition(d.DataSources, dataSourceKind, name)
	}
	return findDefinition(d.Skillsets, skillsetKind, name)
}

func findDefinition[T any](all []T, kind *definitionKind[T], name string) json.RawMessage {
	for i := range all {
		if kind.name(&all[i]) == name {
			b, _ := json.Marshal(all[i]) // nil if it cannot be written, which the service says better
			return b
		}
	}
	return nil
}
