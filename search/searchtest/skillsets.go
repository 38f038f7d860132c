package searchtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
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

// skillInputs are the inputs that a skill may have; one that is not here takes any.
var skillInputs = map[*shape][]string{}

// addSkill adds a skill to the tables. An open one keeps members that are not in own.
func addSkill(name, inputs string, open bool, own ...property) *shape {
	members := append([]property{text("@odata.type"), text("name"), text("description"), text("context")}, own...)
	members = append(members, listOf("inputs", &skillInputShape).must(), listOf("outputs", &skillOutputShape).must())
	sh := &shape{typeName: name[strings.LastIndexByte(name, '.')+1:], members: members, open: open}
	skillShapes["#Microsoft.Skills."+name] = sh
	if inputs != "" {
		skillInputs[sh] = strings.Fields(inputs)
	}
	return sh
}

func init() {
	language := text("defaultLanguageCode")
	addSkill("Vision.OcrSkill", "image url queryString", false,
		text("textExtractionAlgorithm").when(apiversion.RetiredMembers), text("lineEnding"), language, flag("detectOrientation"))
	addSkill("Vision.ImageAnalysisSkill", "image url queryString", false, language, texts("visualFeatures"), texts("details"))
	addSkill("Text.KeyPhraseExtractionSkill", "text languageCode", true, language, whole("maxKeyPhraseCount"))
	addSkill("Text.LanguageDetectionSkill", "text countryHint", true)
	addSkill("Text.MergeSkill", "text itemsToInsert offsets", false, text("insertPreTag"), text("insertPostTag"))
	addSkill("Text.SplitSkill", "text languageCode", true, language, text("textSplitMode").among("pages", "sentences"), whole("maximumPageLength"))
	addSkill("Util.ConditionalSkill", "condition whenTrue whenFalse", false)
	addSkill("Util.ShaperSkill", "", false)
	web := addSkill("Custom.WebApiSkill", "", true,
		text("uri"), text("httpMethod"), text("timeout"), whole("batchSize"), whole("degreeOfParallelism"))
	web.members = append(web.members, property{name: "httpHeaders", kind: kindHeaders})

	first := addSkill("Text.EntityRecognitionSkill", "text languageCode", false, texts("categories"), language, double("minimumPrecision"), flag("includeTypelessEntities"))
	first.needs = apiversion.RetiredMembers
	addSkill("Text.SentimentSkill", "text languageCode", false, language).needs = apiversion.RetiredMembers

	for name, inputs := range map[string]string{
		"Text.V3.EntityRecognitionSkill": "text languageCode", "Text.V3.EntityLinkingSkill": "text languageCode", "Text.V3.SentimentSkill": "text languageCode",
		"Text.PIIDetectionSkill": "text languageCode", "Text.TranslationSkill": "text fromLanguageCode toLanguageCode", "Text.CustomEntityLookupSkill": "text languageCode",
		"Text.AzureOpenAIEmbeddingSkill": "text", "Util.DocumentExtractionSkill": "file_data", "Util.DocumentIntelligenceLayoutSkill": "file_data",
		"Util.ContentUnderstandingSkill": "file_data", "Vision.VectorizeSkill": "", "Custom.AmlSkill": "", "Custom.ChatCompletionSkill": "",
	} {
		addSkill(name, inputs, true)
	}
}

func parseSkillset(_ *Server, body []byte, version apiversion.Version) (*definition, *serviceError) {
	p := newParser("skillset", version)
	sent, err := p.read(body, &skillsetShape)
	if err != nil {
		return nil, err
	}
	name := sent.str("name")
	if reason := nameFault("Skillset", name, 1); reason != "" {
		return nil, p.refuse("InvalidName", "Invalid skillset name: "+reason)
	}
	// Recorded: the reply shows what was sent, later ones what the service made of it.
	object, _ := p.read(body, &skillsetShape)
	skills := object.objects("skills")
	for i, s := range skills {
		completeSkill(s, i)
	}
	if reason := skillsFault(skills); reason != "" {
		return nil, &serviceError{status: http.StatusBadRequest, message: "One or more skills are invalid. Details: " + reason}
	}
	return &definition{resource{name: name, object: object, sent: sent}}, nil
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

// skillsFault is what is wrong with skills whose names and contexts are filled in, ""
// for nothing.
func skillsFault(skills []*object) string {
	seen := make(map[string]bool, len(skills))
	for i, s := range skills {
		name := s.str("name")
		skill := "Skill '#" + strconv.Itoa(i+1) + "' "
		if seen[name] {
			return "There are two skills named '" + name + "'"
		}
		seen[name] = true
		for _, in := range s.objects("inputs") {
			if len(in.objects("inputs")) > 0 && s.shape.typeName != "ShaperSkill" { // recorded
				return skill + "is not allowed to have recursively defined inputs"
			}
			if known := skillInputs[s.shape]; known != nil && !slices.Contains(known, in.str("name")) {
				return skill + "has the unknown input '" + in.str("name") + "'. Its inputs are: " + strings.Join(known, ", ")
			}
		}
	}
	return cycleFault(skills)
}

// cycleFault names a skill that needs its own output, by way of others or not.
func cycleFault(skills []*object) string {
	const underway, done = 1, 2
	state := make([]int, len(skills))
	var needsItself func(i int) bool
	needsItself = func(i int) bool {
		switch state[i] {
		case underway:
			return true
		case done:
			return false
		}
		state[i] = underway
		for j := range skills {
			if reads(skills[i], skills[j]) && needsItself(j) {
				return true
			}
		}
		state[i] = done
		return false
	}
	for i := range skills {
		if needsItself(i) {
			return "Skill '#" + strconv.Itoa(i+1) + "' is part of a cycle: skills cannot need their own outputs"
		}
	}
	return ""
}

// reads reports whether a has an input below an output of b.
func reads(a, b *object) bool {
	var sources func(inputs []*object) []string
	sources = func(inputs []*object) []string {
		var all []string
		for _, in := range inputs {
			all = append(append(all, in.str("source"), in.str("sourceContext")), sources(in.objects("inputs"))...)
		}
		return all
	}
	for _, out := range b.objects("outputs") {
		target := out.str("targetName")
		if target == "" {
			target = out.str("name")
		}
		path := b.str("context") + "/" + target
		for _, source := range sources(a.objects("inputs")) {
			if source == path || strings.HasPrefix(source, path+"/") {
				return true
			}
		}
	}
	return false
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
