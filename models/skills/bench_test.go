package skills_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/skills"
)

// fortySkills is a definition as the service returns it.
func fortySkills(tb testing.TB) []byte {
	tb.Helper()
	set := skills.Skillset{Name: "forty", Description: "all documents of the archive", ETag: `"0x8D7ED513BD34FD0"`}
	size, overlap := 2000, 200
	for range 10 {
		inputs := []skills.Input{{Name: "text", Source: "/document/pages/*"}, {Name: "languageCode", Source: "/document/language"}}
		set.Skills = append(set.Skills,
			skills.Split{Name: "#1", Context: "/document", Inputs: inputs, Outputs: []skills.Output{{Name: "textItems", TargetName: "pages"}}, TextSplitMode: skills.TextSplitModePages, MaximumPageLength: &size, PageOverlapLength: &overlap},
			skills.Shaper{Name: "#2", Context: "/document/pages/*", Inputs: []skills.Input{{Name: "page", SourceContext: "/document/pages/*", Inputs: inputs}}, Outputs: []skills.Output{{Name: "output", TargetName: "shape"}}},
			skills.WebAPI{Name: "#3", Context: "/document", Inputs: inputs, Outputs: []skills.Output{{Name: "result"}}, URI: "https://contoso.example/api/enrich", HTTPHeaders: map[string]string{"x-tenant": "1"}, Timeout: "PT30S", BatchSize: &size},
			skills.EntityRecognition{Name: "#4", Context: "/document/pages/*", Inputs: inputs, Outputs: []skills.Output{{Name: "persons"}, {Name: "locations"}}, DefaultLanguageCode: "en"},
		)
	}
	b, err := json.Marshal(set)
	require.NoError(tb, err)
	return b
}

// plainInput and the types below have the same members without methods.
type plainInput struct {
	Name          string       `json:"name"`
	Source        string       `json:"source"`
	SourceContext string       `json:"sourceContext"`
	Inputs        []plainInput `json:"inputs"`
}

type plainSkill struct {
	Type        string       `json:"@odata.type"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Context     string       `json:"context"`
	Inputs      []plainInput `json:"inputs"`
	Outputs     []struct {
		Name       string `json:"name"`
		TargetName string `json:"targetName"`
	} `json:"outputs"`
	DefaultLanguageCode string            `json:"defaultLanguageCode"`
	TextSplitMode       string            `json:"textSplitMode"`
	MaximumPageLength   *int              `json:"maximumPageLength"`
	PageOverlapLength   *int              `json:"pageOverlapLength"`
	URI                 string            `json:"uri"`
	HTTPHeaders         map[string]string `json:"httpHeaders"`
	Timeout             string            `json:"timeout"`
	BatchSize           *int              `json:"batchSize"`
}

type plainSkillset struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Skills      []plainSkill `json:"skills"`
	ETag        string       `json:"@odata.etag"`
}

// BenchmarkDecode reads a skillset of forty skills; "plain" uses encoding/json and equal structs without
// AdditionalProperties. The limit is twice its time.
func BenchmarkDecode(b *testing.B) {
	definition := fortySkills(b)
	b.SetBytes(int64(len(definition)))
	b.ReportAllocs()
	b.Run("skills", func(b *testing.B) {
		for b.Loop() {
			var x skills.Skillset
			require.NoError(b, json.Unmarshal(definition, &x))
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			var x plainSkillset
			require.NoError(b, json.Unmarshal(definition, &x))
		}
	})
}

// The test counts allocations, which do not depend on the load of the machine.
func TestDecodingASkillsetCostsAtMostTwicePlain(t *testing.T) {
	definition := fortySkills(t)
	var x skills.Skillset
	var plain plainSkillset
	ours := testing.AllocsPerRun(10, func() { require.NoError(t, json.Unmarshal(definition, &x)) })
	theirs := testing.AllocsPerRun(10, func() { require.NoError(t, json.Unmarshal(definition, &plain)) })
	require.LessOrEqual(t, ours, 2*theirs)
}
