package resources

import (
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

func init() {
	skillsetKind.offerAll()
	offer("resetSkills", apiversion.ResetDocuments, false, (*Service).resetSkills, "POST /skillsets/{name}/search.resetskills", "POST /skillsets/{name}/resetskills")
}

// skillsetKind describes skillsets. The emulator runs no skills.
var skillsetKind = (&resourceKind[*definition]{
	set:     "skillsets",
	shape:   &skillsetShape,
	title:   "Skillset",
	plural:  "Skillsets",
	noun:    "skillset",
	compact: "skillset",
	service: "service",
	parse:   parseSkillset,
	keep:    checkSkillset,
}).in(func(c *Catalog) map[string]*definition { return c.skillsets })

var skillsetShape = shape.Shape{
	TypeName: "Skillset", Members: []shape.Property{
		shape.Text("name").Must(),
		shape.Text("description"),
		shape.ManyOf("skills", skillShapes).Must(),
		shape.OneOf("cognitiveServices", map[string]*shape.Shape{
			schema.ComponentType + "DefaultCognitiveServices": {TypeName: "DefaultCognitiveServices", Members: []shape.Property{shape.Text("@odata.type"), shape.Text("description")}},
			schema.ComponentType + "CognitiveServicesByKey": {TypeName: "CognitiveServicesByKey", Members: []shape.Property{
				shape.Text("@odata.type"), shape.Text("description"), shape.Text("key").Hidden(shape.Redacted),
			}},
			schema.ComponentType + "AIServicesByKey": {TypeName: "AIServicesByKey", Members: []shape.Property{
				shape.Text("@odata.type"), shape.Text("description"), shape.Text("key").Hidden(shape.Redacted), shape.Text("subdomainUrl"),
			}},
			schema.ComponentType + "AIServicesByIdentity": {TypeName: "AIServicesByIdentity", Members: []shape.Property{
				shape.Text("@odata.type"), shape.Text("description"), shape.Text("subdomainUrl"), shape.Anything("identity"),
			}},
		}),
		shape.Anything("knowledgeStore").When(apiversion.KnowledgeStore),
		shape.ObjectOf("encryptionKey", &schema.EncryptionKey).When(apiversion.EncryptionKeys),
		shape.ObjectOf("indexProjections", &projectionsShape).When(apiversion.IndexProjections),
	},
}

// projectionsShape has the members that the published specification requires.
var projectionsShape = shape.Shape{TypeName: "IndexProjections", Members: []shape.Property{
	shape.ListOf("selectors", &shape.Shape{TypeName: "IndexProjectionSelector", Members: []shape.Property{
		shape.Text("targetIndexName").Must(), shape.Text("parentKeyFieldName").Must(), shape.Text("sourceContext").Must(),
		shape.ListOf("mappings", &skillInputShape).Must(),
	}}).Must(),
	shape.ObjectOf("parameters", &shape.Shape{TypeName: "IndexProjectionsParameters", Members: []shape.Property{shape.Text("projectionMode")}, Open: true}),
}}

// skillInputShape contains itself.
var skillInputShape = shape.Shape{TypeName: "SkillInput"}

var skillOutputShape = shape.Shape{TypeName: "SkillOutput", Members: []shape.Property{shape.Text("name").Must(), shape.Text("targetName")}}

func init() {
	skillInputShape.Members = []shape.Property{shape.Text("name").Must(), shape.Text("source"), shape.Text("sourceContext"), shape.ListOf("inputs", &skillInputShape)}
}

// skillShapes are the skills by type. Recorded skills have their members in the recorded
// order; the others keep members unchecked.
var skillShapes = map[string]*shape.Shape{}

// addSkill adds a skill to the tables. An open skill keeps members that are not in own.
func addSkill(name string, open bool, own ...shape.Property) *shape.Shape {
	members := append([]shape.Property{shape.Text("@odata.type"), shape.Text("name"), shape.Text("description"), shape.Text("context")}, own...)
	members = append(members, shape.ListOf("inputs", &skillInputShape).Must(), shape.ListOf("outputs", &skillOutputShape).Must())
	sh := &shape.Shape{TypeName: name[strings.LastIndexByte(name, '.')+1:], Members: members, Open: open}
	skillShapes["#Microsoft.Skills."+name] = sh
	return sh
}

func init() {
	language := shape.Text("defaultLanguageCode")
	addSkill("Vision.OcrSkill", false,
		shape.Text("textExtractionAlgorithm").When(apiversion.RetiredMembers), shape.Text("lineEnding"), language, shape.Flag("detectOrientation"))
	addSkill("Vision.ImageAnalysisSkill", false, language, shape.Texts("visualFeatures"), shape.Texts("details"))
	addSkill("Text.KeyPhraseExtractionSkill", true, language, shape.Whole("maxKeyPhraseCount"))
	addSkill("Text.LanguageDetectionSkill", true)
	addSkill("Text.MergeSkill", false, shape.Text("insertPreTag"), shape.Text("insertPostTag"))
	addSkill("Text.SplitSkill", true, language, shape.Text("textSplitMode"), shape.Whole("maximumPageLength"))
	addSkill("Util.ConditionalSkill", false)
	addSkill("Util.ShaperSkill", false)
	web := addSkill("Custom.WebApiSkill", true,
		shape.Text("uri"), shape.Text("httpMethod"), shape.Text("timeout"), shape.Whole("batchSize"), shape.Whole("degreeOfParallelism"))
	web.Members = append(web.Members, shape.Property{Name: "httpHeaders", Kind: shape.KindHeaders})

	first := addSkill("Text.EntityRecognitionSkill", false, shape.Texts("categories"), language, shape.Double("minimumPrecision"), shape.Flag("includeTypelessEntities"))
	first.Needs = apiversion.RetiredMembers
	addSkill("Text.SentimentSkill", false, language).Needs = apiversion.RetiredMembers

	for name := range strings.FieldsSeq(`Text.V3.EntityRecognitionSkill Text.V3.EntityLinkingSkill Text.V3.SentimentSkill Text.PIIDetectionSkill Text.TranslationSkill
		Text.CustomEntityLookupSkill Text.AzureOpenAIEmbeddingSkill Util.DocumentExtractionSkill Util.DocumentIntelligenceLayoutSkill
		Util.ContentUnderstandingSkill Vision.VectorizeSkill Custom.AmlSkill Custom.ChatCompletionSkill`) {
		addSkill(name, true)
	}
}

func parseSkillset(_ *Service, body []byte, version apiversion.Version) (*definition, *reply.Error) {
	p := shape.NewParser("skillset", version)
	sent, err := p.Read(body, &skillsetShape)
	if err != nil {
		return nil, err
	}
	// Recorded: the first reply has only what was sent, later ones have the defaults.
	object, _ := p.Read(body, &skillsetShape)
	for i, s := range object.Objects("skills") {
		for name, value := range refusal.FilledInSkill(i, s.Str("@odata.type")) {
			if !s.Has(name) {
				s.Set(name, value)
			}
		}
	}
	faults, _ := refusal.Skillset(object.AppendTo(nil, version), nil) // it is JSON
	return &definition{shape.Resource{Name: sent.Str("name"), Object: object, Sent: sent}}, p.RefuseFirst(faults)
}

// checkSkillset checks that the indexes into which a skillset projects exist and can take its documents.
func checkSkillset(_ *Service, c *Catalog, next, _ *definition, rt routing.Route) *reply.Error {
	if c.restoring {
		return nil
	}
	if projections := next.Object.Object("indexProjections"); projections != nil {
		for _, selector := range projections.Objects("selectors") {
			if index := selector.Str("targetIndexName"); c.indexes[index] == nil {
				return &reply.Error{Status: http.StatusBadRequest, Message: refusal.InvalidSelector(index, "does not exist.")}
			}
		}
	}
	faults, _ := refusal.Skillset(next.Object.AppendTo(nil, rt.Version), c.find) // it is JSON
	return shape.NewParser("skillset", rt.Version).RefuseFirst(faults)
}

var resetSkillsShape = shape.Shape{TypeName: "SkillNames", Members: []shape.Property{shape.Texts("skillNames")}}

// resetSkills answers POST /skillsets('x')/search.resetskills.
func (s *Service) resetSkills(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	body, err := readAll(r)
	if err == nil && len(body) > 0 {
		_, err = shape.NewParser("skillNames", rt.Version).Read(body, &resetSkillsShape)
	}
	s.lock.RLock()
	found := s.skillsets[rt.Name]
	s.lock.RUnlock()
	if err == nil && found == nil {
		err = skillsetKind.missing(s, rt.Name)
	}
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
