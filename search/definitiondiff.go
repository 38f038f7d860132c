package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
)

// Definition lists the types that DiffDefinition compares.
type Definition interface {
	models.SynonymMap | models.Alias | indexers.DataSource | indexers.Indexer | skills.Skillset | knowledge.Source | knowledge.Base
}

// DiffDefinition is DiffIndex for all other definitions: it lists the changes from before to after, and the cost of
// each. Nothing is sent. A missing member equals the value that the service fills in; a skill without a name is
// compared with the one at its place. A change of kind ChangeNeedsReset is made in place, but documents that are
// already indexed show it only after an indexer has read them again, following IndexerClient.ResetIndexer or
// ResetSkills. If the documentation of the service does not say that a member can be changed, the change counts as a
// rebuild: the definition must be deleted and created. Changes of unknown members count as in place.
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
		completeOther(*x.tree)
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

// completeOther adds the members that the service fills in to a skillset or an indexer.
func completeOther(o jsonObject) {
	for i, s := range entriesOf(o["skills"]) {
		typ, _ := s["@odata.type"].(string)
		fillMissing(s, refusal.FilledInSkill(i, typ))
	}
	if schedule, is := o["schedule"].(jsonObject); is {
		fillMissing(schedule, refusal.FilledIn("schedule"))
	}
	for _, list := range []string{"fieldMappings", "outputFieldMappings"} {
		for _, m := range entriesOf(o[list]) {
			fillMissing(m, jsonObject{"targetFieldName": m["sourceFieldName"]})
		}
	}
}

// filledIn reports whether a change only removes a value that the service fills in anywhere.
func filledIn(c IndexChange) bool {
	var filled string
	switch old := string(c.Old); {
	case strings.HasSuffix(c.Path, ".firstLineContainsHeaders"), strings.HasSuffix(c.Path, ".refreshAllAcls"):
		filled = "true"
	case old == "{}":
		filled = old
	default:
		filled = "false"
	}
	return strings.Contains(c.Path, ".createdResources") || c.New == nil && string(c.Old) == filled
}

// cost is the cost of changes at or below a path. "*" stands for any prefix of a name.
type cost struct {
	path   string
	kind   ChangeKind
	reason string
}

const (
	readAgain = "indexed documents show it only after they are read again"
	unsure    = "the documentation does not say that it can be changed"
)

// costs are the rules per kind of definition. The last matching row applies.
var costs = map[string][]cost{
	"indexers.DataSource": {
		{"name", ChangeNeedsRebuild, "a data source cannot be renamed"},
		{"type", ChangeNeedsRebuild, unsure},
		{"container", ChangeNeedsReset, readAgain},
		{"dataChangeDetectionPolicy", ChangeNeedsReset, "indexed documents have no mark of the new policy"},
		{"dataDeletionDetectionPolicy", ChangeNeedsReset, "earlier deletions are found only after a reset"},
		{"indexerPermissionOptions", ChangeNeedsReset, readAgain},
	},
	"indexers.Indexer": {
		{"name", ChangeNeedsRebuild, "an indexer cannot be renamed"},
		{"dataSourceName", ChangeNeedsReset, "the high-water mark belongs to the other data source"},
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

// begins reports whether path is rule or lies below it. A rule may end within a name, such as "failOn".
func begins(path, rule string) bool {
	rest, ok := strings.CutPrefix(path, rule)
	return ok && (rest == "" || rule == "" || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/") || strings.HasSuffix(rule, "failOn"))
}
