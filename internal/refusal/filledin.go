package refusal

import (
	"cmp"
	"maps"
	"strconv"
)

// filledIn are, by object of a definition, the members that the service fills in if they are missing, as recorded. A
// skill is listed by its type; FilledInSkill has what all skills have.
var filledIn = map[string]map[string]any{
	"schedule": {"startTime": "0001-01-01T00:00:00Z"},

	"#Microsoft.Skills.Vision.OcrSkill":               {"defaultLanguageCode": "en", "lineEnding": "Space", "detectOrientation": true},
	"#Microsoft.Skills.Vision.ImageAnalysisSkill":     {"defaultLanguageCode": "en"},
	"#Microsoft.Skills.Text.KeyPhraseExtractionSkill": {"defaultLanguageCode": "en"},
	"#Microsoft.Skills.Text.SplitSkill":               {"defaultLanguageCode": "en"},
	"#Microsoft.Skills.Text.SentimentSkill":           {"defaultLanguageCode": "en"},
	"#Microsoft.Skills.Text.EntityRecognitionSkill": {
		"defaultLanguageCode": "en", "categories": []any{"Person", "Quantity", "Organization", "URL", "Email", "Location", "DateTime"},
	},
}

// inDocument is the context of a skill that has none.
const inDocument = "/document"

// FilledIn returns the members, with their values, that the service fills in if an object of a definition, such as
// "schedule", lacks them. The caller must not change it.
func FilledIn(object string) map[string]any { return filledIn[object] }

// FilledInSkill is FilledIn for the skill at index i of a skillset.
func FilledInSkill(i int, typ string) map[string]any {
	members := map[string]any{"name": nameAt(i), "context": inDocument}
	maps.Copy(members, filledIn[typ])
	return members
}

// nameAt is the name of a skill that has none.
func nameAt(i int) string { return "#" + strconv.Itoa(i+1) }

// complete adds the members that rules are about.
func complete(skills []skill) {
	for i := range skills {
		k := &skills[i]
		k.Name, k.Context = cmp.Or(k.Name, nameAt(i)), cmp.Or(k.Context, inDocument)
	}
}
