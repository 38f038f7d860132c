package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
)

// Definition is a definition that DiffDefinition compares.
type Definition interface {
	models.SynonymMap | models.Alias | indexers.DataSource | indexers.Indexer | skills.Skillset | knowledge.Source | knowledge.Base
}

// DiffDefinition is DiffIndex for all other definitions: it says what changes the definition before
// into after, and what each change costs. Nothing is sent. A member that after leaves out is no change
// if before has the value that the service fills in. A change of the kind
// ChangeNeedsReset is made in place, and documents that were indexed before show it only when an
// indexer has read them again, after IndexerClient.ResetIndexer (or ResetSkills). Where the
// documentation of the service is silent, a change needs a rebuild: the definition must be deleted
// and created. Members that this library does not know are in place.
func DiffDefinition[T Definition](before, after T) (IndexChanges, error) {
	d := indexDiff{}
	for _, x := range []struct {
		when       string
		definition T
		tree       *jsonObject
	}{{"before", before, &d.before}, {"after", after, &d.after}} {
		b, err := json.Marshal(x.definition)
		if err == nil {
			*x.tree, err = decodeTree(b)
		}
		if err != nil {
			return nil, fmt.Errorf("search: the definition %s: %w", x.when, err)
		}
		delete(*x.tree, "@odata.etag")
		prune(*x.tree)
	}
	rules := costs[fmt.Sprintf("%T", before)]
	for _, name := range memberNames(d.before, d.after) {
		if !sameMember(name, d.before[name], d.after[name]) {
			d.compare(name, d.before[name], d.after[name], func(path string, _, _ any) (ChangeKind, string) { return costOf(rules, path) })
		}
	}
	d.changes = slices.DeleteFunc(d.changes, func(c IndexChange) bool { return filledIn(c) })
	return d.changes, nil
}

// filledIn reports whether a change is one between nothing and what the service fills in.
func filledIn(c IndexChange) bool {
	old := string(c.Old)
	return strings.Contains(c.Path, ".createdResources") ||
		c.New == nil && (old == "false" || old == "{}" || old == `"/document"` && strings.HasSuffix(c.Path, ".context"))
}

// cost is what changes of the members below a path cost. "*" stands for any beginning of a name.
type cost struct {
	path   string
	kind   ChangeKind
	reason string
}

const (
	readAgain = "documents that were indexed before show it only when they are read again"
	unsure    = "the documentation does not say that it can be changed"
)

// costs are those of each kind of definition; the last row that fits counts.
var costs = map[string][]cost{
	"indexers.DataSource": {
		{"name", ChangeNeedsRebuild, "a data source cannot be renamed"},
		{"type", ChangeNeedsRebuild, unsure},
		{"container", ChangeNeedsReset, readAgain},
		{"dataChangeDetectionPolicy", ChangeNeedsReset, "what was indexed before has no mark of the new policy"},
		{"dataDeletionDetectionPolicy", ChangeNeedsReset, "what was deleted before is not found otherwise"},
		{"indexerPermissionOptions", ChangeNeedsReset, readAgain},
	},
	"indexers.Indexer": {
		{"name", ChangeNeedsRebuild, "an indexer cannot be renamed"},
		{"dataSourceName", ChangeNeedsReset, "the marks of what was read are those of the other data source"},
		{"targetIndexName", ChangeNeedsReset, readAgain},
		{"skillsetName", ChangeNeedsReset, readAgain},
		{"fieldMappings", ChangeNeedsReset, readAgain},
		{"outputFieldMappings", ChangeNeedsReset, readAgain},
		{"parameters.configuration", ChangeNeedsReset, readAgain},
		{"parameters.configuration.failOn", ChangeInPlace, "it applies from the next run on"},
		{"parameters.configuration.executionEnvironment", ChangeInPlace, "it applies from the next run on"},
		{"parameters.configuration.queryTimeout", ChangeInPlace, "it applies from the next run on"},
	},
	"skills.Skillset": {
		{"name", ChangeNeedsRebuild, "a skillset cannot be renamed"},
		{"skills", ChangeNeedsReset, readAgain},
		{"knowledgeStore", ChangeNeedsReset, readAgain},
		{"knowledgeStore.storageConnectionString", ChangeInPlace, "it applies from the next run on"},
		{"indexProjections", ChangeNeedsReset, readAgain},
	},
	"knowledge.Source": {
		{"name", ChangeNeedsRebuild, "a knowledge source cannot be renamed"},
		{"kind", ChangeNeedsRebuild, "the kind of a knowledge source is fixed"},
		{"*Parameters", ChangeNeedsRebuild, unsure},
		{"*Parameters.connectionString", ChangeInPlace, "it applies from the next run on"},
		{"*Parameters.ingestionParameters.ingestionSchedule", ChangeInPlace, "it applies from the next run on"},
		{"*Parameters.ingestionParameters.networkAccessMode", ChangeNeedsRebuild, "the way to a source is fixed"},
		{"searchIndexParameters", ChangeInPlace, "it applies to queries only"},
		{"webParameters", ChangeInPlace, "it applies to queries only"},
	},
	"models.SynonymMap": {{"name", ChangeNeedsRebuild, "a synonym map cannot be renamed"}},
	"models.Alias":      {{"name", ChangeNeedsRebuild, "an alias cannot be renamed"}},
	"knowledge.Base":    {{"name", ChangeNeedsRebuild, "a knowledge base cannot be renamed"}},
}

func costOf(rules []cost, path string) (ChangeKind, string) {
	kind, reason := ChangeInPlace, "it applies from now on"
	for _, c := range rules {
		begin, end, wild := strings.Cut(c.path, "*")
		head, _, _ := strings.Cut(path, ".")
		first, rest, _ := strings.Cut(end, ".")
		switch {
		case !wild && begins(path, c.path), wild && strings.HasPrefix(path, begin) && strings.HasSuffix(head, first) && begins(strings.TrimPrefix(path[len(head):], "."), rest):
			kind, reason = c.kind, c.reason
		}
	}
	return kind, reason
}

// begins reports whether path is rule or below it. A rule may end within a name, "failOn".
func begins(path, rule string) bool {
	rest, ok := strings.CutPrefix(path, rule)
	return ok && (rest == "" || rule == "" || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/") || strings.HasSuffix(rule, "failOn"))
}
