package apply

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
)

// diff returns the changes from before to after, two definitions of kind k.
func diff(k *definitions.Kind, before, after json.RawMessage) (search.IndexChanges, error) {
	switch k {
	case definitions.Indexes:
		return decoded(before, after, search.DiffIndex)
	case definitions.DataSources:
		return decoded(before, after, search.DiffDefinition[indexers.DataSource])
	case definitions.Indexers:
		return decoded(before, after, search.DiffDefinition[indexers.Indexer])
	case definitions.Skillsets:
		return decoded(before, after, search.DiffDefinition[skills.Skillset])
	case definitions.KnowledgeSources:
		return decoded(before, after, search.DiffDefinition[knowledge.Source])
	case definitions.KnowledgeBases:
		return decoded(before, after, search.DiffDefinition[knowledge.Base])
	case definitions.SynonymMaps:
		return decoded(before, after, search.DiffDefinition[models.SynonymMap])
	}
	return decoded(before, after, search.DiffDefinition[models.Alias])
}

func decoded[T any](before, after json.RawMessage, diff func(before, after T) (search.IndexChanges, error)) (search.IndexChanges, error) {
	var a, b T
	if err := json.Unmarshal(before, &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(after, &b); err != nil {
		return nil, err
	}
	return diff(a, b)
}

// refused returns the problems for which the service would refuse a definition. Definitions that it refers to are
// taken from files, else from live.
func refused(k *definitions.Kind, content json.RawMessage, files, live definitions.Set) []*search.CheckProblem {
	var others search.Definitions
	both := slices.Concat(files, live) // files come first, so a file takes precedence over the live definition of the same name
	read(both.Of(definitions.Indexes), &others.Indexes)
	read(both.Of(definitions.DataSources), &others.DataSources)
	read(both.Of(definitions.Skillsets), &others.Skillsets)
	var err error
	switch k {
	case definitions.Indexes:
		err = checked[models.SearchIndex](content, others)
	case definitions.DataSources:
		err = checked[indexers.DataSource](content, others)
	case definitions.Skillsets:
		err = checked[skills.Skillset](content, others)
	case definitions.Indexers:
		err = checked[indexers.Indexer](content, others)
	}
	if found, is := errors.AsType[*search.CheckError](err); is {
		return found.Problems
	}
	return nil
}

func checked[T models.SearchIndex | indexers.DataSource | indexers.Indexer | skills.Skillset](content json.RawMessage, others search.Definitions) error {
	var definition T
	if json.Unmarshal(content, &definition) != nil {
		return nil // the service reports a precise error
	}
	return search.CheckDefinition(definition, others)
}

func read[T any](from definitions.Set, into *[]T) {
	for i := range from {
		var definition T
		if json.Unmarshal(from[i].JSON, &definition) == nil {
			*into = append(*into, definition)
		}
	}
}

// reference names another definition.
type reference struct {
	kind *definitions.Kind
	name string
}

// Needs returns the kinds that definitions of kind k refer to.
func Needs(k *definitions.Kind) []*definitions.Kind {
	switch k {
	case definitions.Indexes:
		return []*definitions.Kind{definitions.SynonymMaps, definitions.Aliases, definitions.Indexers} // the last two for a rebuild
	case definitions.Aliases, definitions.KnowledgeSources:
		return []*definitions.Kind{definitions.Indexes}
	case definitions.Indexers:
		return []*definitions.Kind{definitions.DataSources, definitions.Indexes, definitions.Skillsets}
	case definitions.Skillsets:
		return []*definitions.Kind{definitions.Indexes} // index projections
	case definitions.KnowledgeBases:
		return []*definitions.Kind{definitions.KnowledgeSources}
	}
	return nil
}

// references returns the definitions that d, with the content content, refers to.
func references(d *definitions.Definition, content json.RawMessage) (all []reference) {
	add := func(k *definitions.Kind, names ...string) {
		for _, name := range names {
			if name != "" && name != redacted {
				all = append(all, reference{k, name})
			}
		}
	}
	var named struct {
		Fields           []models.SearchField
		Indexes          []string
		DataSourceName   string
		TargetIndexName  string
		SkillsetName     string
		Parameters       struct{ SearchIndexName string } `json:"searchIndexParameters"`
		KnowledgeSources []struct{ Name string }
	}
	if json.Unmarshal(content, &named) != nil {
		return nil // the service reports a precise error
	}
	switch d.Kind {
	case definitions.Indexes:
		var visit func([]models.SearchField)
		visit = func(fields []models.SearchField) {
			for i := range fields {
				add(definitions.SynonymMaps, fields[i].SynonymMaps...)
				visit(fields[i].Fields)
			}
		}
		visit(named.Fields)
	case definitions.Aliases:
		add(definitions.Indexes, named.Indexes...)
	case definitions.Indexers:
		add(definitions.DataSources, named.DataSourceName)
		add(definitions.Indexes, named.TargetIndexName)
		add(definitions.Skillsets, named.SkillsetName)
	case definitions.KnowledgeSources:
		add(definitions.Indexes, named.Parameters.SearchIndexName)
	case definitions.KnowledgeBases:
		for _, s := range named.KnowledgeSources {
			add(definitions.KnowledgeSources, s.Name)
		}
	}
	return all
}
