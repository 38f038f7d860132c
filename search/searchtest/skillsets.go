package searchtest

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
)

func init() {
	skillsetKind.register()
	register(operation{
		name: "resetSkills", needs: apiversion.ResetDocuments, serve: (*Server).resetSkills,
		routes: []string{"POST /skillsets/{name}/search.resetskills", "POST /skillsets/{name}/resetskills"},
	})
}

// skillsetKind is how skillsets are kept. No skill is run.
var skillsetKind = (&resourceKind[*definition]{
	set:     "skillsets",
	shape:   &skillsetShape,
	title:   "Skillset",
	plural:  "Skillsets",
	noun:    "skillset",
	compact: "skillset",
	service: "service",
	parse:   parseSkillset,
}).in(func(c *catalog) map[string]*definition { return c.skillsets })

var skillsetShape = shape{
	typeName: "Skillset", members: []property{
		text("name").must(),
		text("description"),
		manyOf("skills", skillShapes).must(),
		oneOf("cognitiveServices", map[string]*shape{
			componentType + "DefaultCognitiveServices": {typeName: "DefaultCognitiveServices", members: []property{text("@odata.type"), text("description")}},
			componentType + "CognitiveServicesByKey": {typeName: "CognitiveServicesByKey", members: []property{
				text("@odata.type"), text("description"), text("key").hidden(redacted),
			}},
			componentType + "AIServicesByKey": {typeName: "AIServicesByKey", members: []property{
				text("@odata.type"), text("description"), text("key").hidden(redacted), text("subdomainUrl"),
			}},
			componentType + "AIServicesByIdentity": {typeName: "AIServicesByIdentity", members: []property{
				text("@odata.type"), text("description"), text("subdomainUrl"), anything("identity"),
			}},
		}),
		anything("knowledgeStore").when(apiversion.KnowledgeStore),
		objectOf("encryptionKey", &encryptionKeyShape).when(apiversion.EncryptionKeys),
		anything("indexProjections").when(apiversion.IndexProjections),
	},
}

// skillInputShape contains itself.
var skillInputShape = shape{typeName: "SkillInput"}

var skillOutputShape = shape{typeName: "SkillOutput", members: []property{text("name").must(), text("targetName")}}

func init() {
	skillInputShape.members = []property{text("name").must(), text("source"), text("sourceContext"), listOf("inputs", &skillInputShape)}
}

// skillShapes are the skills by their type. The members of those that were recorded
// are in the recorded order; the others keep what they are given.
var skillShapes = map[string]*shape{}

// addSkill adds a skill to the tables. An open one keeps members that are not in own.
func addSkill(name string, open bool, own ...property) *shape {
	members := append([]property{text("@odata.type"), text("name"), text("description"), text("context")}, own...)
	members = append(members, listOf("inputs", &skillInputShape).must(), listOf("outputs", &skillOutputShape).must())
	sh := &shape{typeName: name[strings.LastIndexByte(name, '.')+1:], members: members, open: open}
	skillShapes["#Microsoft.Skills."+name] = sh
	return sh
}

func init() {
	language := text("defaultLanguageCode")
	addSkill("Vision.OcrSkill", false,
		text("textExtractionAlgorithm").when(apiversion.RetiredMembers), text("lineEnding"), language, flag("detectOrientation"))
	addSkill("Vision.ImageAnalysisSkill", false, language, texts("visualFeatures"), texts("details"))
	addSkill("Text.KeyPhraseExtractionSkill", true, language, whole("maxKeyPhraseCount"))
	addSkill("Text.LanguageDetectionSkill", true)
	addSkill("Text.MergeSkill", false, text("insertPreTag"), text("insertPostTag"))
	addSkill("Text.SplitSkill", true, language, text("textSplitMode").among("pages", "sentences"), whole("maximumPageLength"))
	addSkill("Util.ConditionalSkill", false)
	addSkill("Util.ShaperSkill", false)
	web := addSkill("Custom.WebApiSkill", true,
		text("uri"), text("httpMethod"), text("timeout"), whole("batchSize"), whole("degreeOfParallelism"))
	web.members = append(web.members, property{name: "httpHeaders", kind: kindHeaders})

	first := addSkill("Text.EntityRecognitionSkill", false, texts("categories"), language, double("minimumPrecision"), flag("includeTypelessEntities"))
	first.needs = apiversion.RetiredMembers
	addSkill("Text.SentimentSkill", false, language).needs = apiversion.RetiredMembers

	for name := range strings.FieldsSeq(`Text.V3.EntityRecognitionSkill Text.V3.EntityLinkingSkill Text.V3.SentimentSkill Text.PIIDetectionSkill Text.TranslationSkill
		Text.CustomEntityLookupSkill Text.AzureOpenAIEmbeddingSkill Util.DocumentExtractionSkill Util.DocumentIntelligenceLayoutSkill
		Util.ContentUnderstandingSkill Vision.VectorizeSkill Custom.AmlSkill Custom.ChatCompletionSkill`) {
		addSkill(name, true)
	}
}

func parseSkillset(_ *Server, body []byte, version apiversion.Version) (*definition, *serviceError) {
	p := newParser("skillset", version)
	sent, err := p.read(body, &skillsetShape)
	if err != nil {
		return nil, err
	}
	// Recorded: the reply shows what was sent, later ones what the service made of it.
	object, _ := p.read(body, &skillsetShape)
	for i, s := range object.objects("skills") {
		completeSkill(s, i)
	}
	faults, _ := refusal.Skillset(object.appendTo(nil, version), nil) // it is JSON
	return &definition{resource{name: sent.str("name"), object: object, sent: sent}}, p.refuseFirst(faults)
}

// completeSkill fills in what the service fills in, as far as it was recorded.
func completeSkill(s *object, i int) {
	defaults := map[string]any{"name": "#" + strconv.Itoa(i+1), "context": "/document", "defaultLanguageCode": "en"}
	switch s.shape.typeName {
	case "OcrSkill":
		defaults["lineEnding"], defaults["detectOrientation"] = "Space", true
	case "EntityRecognitionSkill":
		defaults["categories"] = []any{"Person", "Quantity", "Organization", "URL", "Email", "Location", "DateTime"}
	}
	for name, value := range defaults {
		if !s.has(name) {
			s.set(name, value)
		}
	}
}

var resetSkillsShape = shape{typeName: "SkillNames", members: []property{texts("skillNames")}}

// resetSkills answers POST /skillsets('x')/search.resetskills.
func (s *Server) resetSkills(w http.ResponseWriter, r *http.Request, rt route, _ *exchange) {
	body, err := readAll(r)
	if err == nil && len(body) > 0 {
		_, err = newParser("skillNames", rt.version).read(body, &resetSkillsShape)
	}
	s.mu.RLock()
	found := s.skillsets[rt.name]
	s.mu.RUnlock()
	if err == nil && found == nil {
		err = skillsetKind.missing(s, rt.name)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
