package refusal

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Input is an input of a skill, or a mapping of a projection.
type Input struct {
	Name, Source, SourceContext string
	Inputs                      []Input
}

type output struct{ Name, TargetName string }

type skill struct {
	Type                       string `json:"@odata.type"`
	Name, Description, Context string
	TextSplitMode              *string
	Unit, URI, Timeout         string
	DefaultToLanguageCode      string
	ResourceURI, DeploymentID  string
	Dimensions                 *int
	// Numbers with a range.
	MinimumPrecision, MaximumPageLength, DegreeOfParallelism *float64
	Inputs                                                   []Input
	Outputs                                                  []output
}

type selector struct {
	TargetIndexName, ParentKeyFieldName, SourceContext string
	Mappings                                           []Input
}

type skillset struct {
	Name             string
	Skills           []skill
	IndexProjections struct {
		Selectors  []selector
		Parameters struct{ ProjectionMode *string }
	}
	EncryptionKey *encryptionKey
}

// Kinds of outputs.
const (
	text    = "a string"
	texts   = "a list of strings"
	number  = "a number"
	vector  = "a vector"
	complex = "an object"
)

// signature describes a type of skills.
type signature struct {
	inputs  string            // allowed inputs, "" for any
	outputs string            // all outputs, "" if unknown
	kinds   map[string]string // of outputs that are not objects
}

func all(kind string, outputs string) map[string]string {
	kinds := map[string]string{}
	for name := range strings.FieldsSeq(outputs) {
		kinds[name] = kind
	}
	return kinds
}

const translated = "translatedText translatedFromLanguageCode translatedToLanguageCode"

const embedding = "Text.AzureOpenAIEmbeddingSkill"

// signatures describe the service's skills, by the text after "#Microsoft.Skills.".
var signatures = map[string]signature{
	"Vision.OcrSkill":                      {"image url queryString", "text layoutText", all(text, "text")},
	"Vision.ImageAnalysisSkill":            {"image url queryString", "", nil},
	"Text.KeyPhraseExtractionSkill":        {"text languageCode", "keyPhrases", all(texts, "keyPhrases")},
	"Text.LanguageDetectionSkill":          {"text countryHint", "languageCode languageName score", map[string]string{"languageCode": text, "languageName": text, "score": number}},
	"Text.MergeSkill":                      {"text itemsToInsert offsets", "mergedText mergedOffsets", all(text, "mergedText")},
	"Text.SplitSkill":                      {"text languageCode", "textItems offsets lengths ordinalPositions", all(texts, "textItems")},
	"Util.ConditionalSkill":                {"condition whenTrue whenFalse", "output", nil},
	"Util.ShaperSkill":                     {"", "output", nil},
	"Text.EntityRecognitionSkill":          {"text languageCode", "", nil},
	"Text.SentimentSkill":                  {"text languageCode", "", nil},
	"Text.V3.EntityRecognitionSkill":       {"text languageCode", "", all(texts, "persons locations organizations quantities dateTimes urls emails")},
	"Text.V3.EntityLinkingSkill":           {"text languageCode", "entities", nil},
	"Text.V3.SentimentSkill":               {"text languageCode", "sentiment confidenceScores sentences", all(text, "sentiment")},
	"Text.PIIDetectionSkill":               {"text languageCode", "piiEntities maskedText", all(text, "maskedText")},
	"Text.TranslationSkill":                {"text fromLanguageCode toLanguageCode", translated, all(text, translated)},
	"Text.CustomEntityLookupSkill":         {"text languageCode", "entities", nil},
	embedding:                              {"text", "embedding", all(vector, "embedding")},
	"Util.DocumentExtractionSkill":         {"file_data", "content normalized_images", all(text, "content")},
	"Util.DocumentIntelligenceLayoutSkill": {"file_data", "markdown_document text_sections normalized_images", nil},
	"Util.ContentUnderstandingSkill":       {"file_data", "text_sections normalized_images", nil},
}

// Skillset returns the faults of a skillset.
func Skillset(definition json.RawMessage, others Others) (l faults, err error) {
	var s skillset
	if err := decode(definition, &s); err != nil {
		return nil, err
	}
	l.name("Skillset", s.Name)
	l.encryption(s.EncryptionKey)
	complete(s.Skills)
	tree := treeOf(s.Skills)
	l.names(s.Skills)
	for i := range s.Skills {
		l.skill(i, &s.Skills[i], tree)
	}
	l.duplicates(s.Skills)
	l.cycle(s.Skills)
	l.projections(s, tree, others)
	return l, nil
}

// invalid frames the service's message about a skill.
func invalid(reason string) string { return "One or more skills are invalid. Details: " + reason }

// names checks that the names of skills are unique.
func (l *faults) names(skills []skill) {
	seen := make(map[string]bool, len(skills))
	for i := range skills {
		name := skills[i].Name
		if seen[name] {
			l.add(Fault{
				Kind: Duplicate, Path: "skills/" + name, Have: name, Problem: fmt.Sprintf("two skills have the name %q", name),
				Fix: "give one of them another name", Service: invalid("There are two skills named '" + name + "'"),
			})
		}
		seen[name] = true
	}
}

// skill checks one skill, without regard to the others.
func (l *faults) skill(i int, s *skill, tree tree) {
	path, says := "skills/"+s.Name, "Skill '#"+strconv.Itoa(i+1)+"' "
	typ := s.typ()
	known := signatures[typ]
	inputs, outputs := strings.Fields(known.inputs), strings.Fields(known.outputs)
	for i, in := range s.Inputs {
		at := path + ".inputs/" + in.Name
		if in.Name == "" {
			l.needs([2]string{path + ".inputs/#" + strconv.Itoa(i+1) + ".name", ""})
			continue
		}
		if len(in.Inputs) > 0 && typ != "Util.ShaperSkill" { // recorded
			l.add(Fault{
				Kind: Value, Path: at, Problem: "only a Shaper takes inputs of inputs", Fix: "make the object with a Shaper, and take its output as the source",
				Service: invalid(says + "is not allowed to have recursively defined inputs"),
			})
		}
		if known.inputs != "" && !slices.Contains(inputs, in.Name) {
			l.add(Fault{
				Kind: Reference, Path: at, Have: in.Name, Want: strings.Join(inputs, ", "), Problem: "a " + typ + " does not have this input", Fix: "use one of " + strings.Join(inputs, ", "),
				Service: invalid(says + "has the unknown input '" + in.Name + "'. Its inputs are: " + strings.Join(inputs, ", ")),
			})
		}
	}
	for i, out := range s.Outputs {
		if out.Name == "" {
			l.needs([2]string{path + ".outputs/#" + strconv.Itoa(i+1) + ".name", ""})
			continue
		}
		if known.outputs != "" && !slices.Contains(outputs, out.Name) {
			l.add(Fault{
				Kind: Reference, Path: path + ".outputs/" + out.Name, Have: out.Name, Want: strings.Join(outputs, ", "),
				Problem: "a " + typ + " does not have this output", Fix: "use one of " + strings.Join(outputs, ", "),
			})
		}
	}
	if s.Type == "" { // nil in Go
		l.add(Fault{Kind: Value, Path: path, Problem: "it is not a skill", Fix: "set it, or leave it out"})
	}
	l.values(path, s)
	l.source(path+".context", s.Context, tree)
	l.sources(path, s.Inputs, tree)
}

// typ returns the text after "#Microsoft.Skills.".
func (s *skill) typ() string {
	_, typ, _ := strings.Cut(s.Type, "#Microsoft.Skills.")
	return typ
}

// values checks the members that one type of skills has. The ranges of precisions and the required members are those
// of the published specification, the other ranges those of the documentation.
func (l *faults) values(path string, s *skill) {
	between := func(name string, value *float64, least, most float64) {
		if value != nil && (*value < least || *value > most) {
			l.add(Fault{Kind: Value, Path: path + "." + name, Problem: fmt.Sprintf("got %v", *value), Fix: fmt.Sprintf("use %v to %v", least, most)})
		}
	}
	switch s.typ() {
	case "Text.SplitSkill":
		if s.TextSplitMode != nil {
			l.among(path+".textSplitMode", *s.TextSplitMode, []string{"pages", "sentences"})
		}
		if s.Unit == "" || s.Unit == "characters" { // tokens have no documented range
			between("maximumPageLength", s.MaximumPageLength, 300, 50000)
		}
	case "Text.V3.EntityRecognitionSkill", "Text.V3.EntityLinkingSkill", "Text.PIIDetectionSkill":
		between("minimumPrecision", s.MinimumPrecision, 0, 1)
	case "Text.TranslationSkill":
		l.needs([2]string{path + ".defaultToLanguageCode", s.DefaultToLanguageCode})
	case embedding: // a run fails without them
		l.needs([2]string{path + ".resourceUri", s.ResourceURI}, [2]string{path + ".deploymentId", s.DeploymentID})
	case "Custom.WebApiSkill":
		l.needs([2]string{path + ".uri", s.URI})
		between("degreeOfParallelism", s.DegreeOfParallelism, 1, 10)
		if limit, ok := duration(s.Timeout); s.Timeout != "" && (!ok || limit < time.Second || limit > 230*time.Second) {
			l.add(Fault{
				Kind: Value, Path: path + ".timeout", Have: s.Timeout, Want: "PT1S to PT230S", Problem: fmt.Sprintf("got the timeout %q", s.Timeout),
				Fix: `use an ISO 8601 duration from 1 to 230 seconds, such as "PT30S"`, Unsent: true,
			})
		}
	}
}

// sources checks the sources of inputs.
func (l *faults) sources(path string, inputs []Input, tree tree) {
	for _, in := range inputs {
		at := path + ".inputs/" + in.Name
		for _, p := range paths(in.Source) {
			l.source(at, p, tree)
		}
		l.source(at, in.SourceContext, tree)
		l.sources(at, in.Inputs, tree)
	}
}

// source checks a path of the enriched document; "" means none.
func (l *faults) source(at, path string, tree tree) {
	switch {
	case path == "":
	case path != "/document" && !strings.HasPrefix(path, "/document/"):
		l.add(Fault{
			Kind: Reference, Path: at, Have: path, Want: "/document/…", Problem: fmt.Sprintf("got the source %q, which is not in the document", path),
			Fix: fmt.Sprintf("begin it with /document, such as %q", "/document/"+strings.TrimPrefix(strings.TrimLeft(path, "/"), "document/")),
		})
	default:
		if parent, kind := tree.barren(path); parent != "" {
			l.add(Fault{
				Kind: Reference, Path: at, Have: path,
				Problem: fmt.Sprintf("no skill writes %s: %s is %s, which has no members of its own", path, parent, kind), Fix: "use the path of an output: its context, a slash, its targetName",
			})
		}
	}
}

var inExpression = regexp.MustCompile(`\$\(\s*(/[^)\s]*)\s*\)`)

// paths returns the paths in a source, which may be an expression.
func paths(source string) []string {
	if !strings.HasPrefix(source, "=") {
		return []string{source}
	}
	var found []string
	for _, m := range inExpression.FindAllStringSubmatch(source, -1) {
		found = append(found, m[1])
	}
	return found
}

// tree holds the paths of the outputs that skills write, with their kinds, "" if unknown.
type tree map[string]string

func treeOf(skills []skill) tree {
	t := tree{}
	for i := range skills {
		s := &skills[i]
		for _, out := range s.Outputs {
			if path := s.path(out); !t.writes(path) {
				t[path] = signatures[s.typ()].kinds[out.Name]
			}
		}
	}
	return t
}

func (t tree) writes(path string) bool {
	_, written := t[path]
	return written
}

// path returns the path of an output.
func (s *skill) path(o output) string {
	if o.TargetName == "" {
		o.TargetName = o.Name
	}
	return s.Context + "/" + o.TargetName
}

// below reports whether a path is that of a node or below it.
func below(path, node string) bool { return path == node || strings.HasPrefix(path, node+"/") }

// nearest returns the deepest output at or above a path.
func (t tree) nearest(path string) (node string) {
	for o := range t {
		if below(path, o) && len(o) > len(node) {
			node = o
		}
	}
	return node
}

// barren returns the output below which a path points although it has no members, with its kind; "" if none.
func (t tree) barren(path string) (node, kind string) {
	node = t.nearest(path)
	kind = t[node]
	rest := strings.TrimPrefix(path, node)
	if node == "" || kind == "" || rest == "" || rest == "/*" && (kind == texts || kind == vector) {
		return "", ""
	}
	return node, kind
}

// kind returns the kind of a path that is read once for each node of a context, or "" if unknown.
func (t tree) kind(path, context string) string {
	node := t.nearest(path)
	kind, rest := t[node], strings.TrimPrefix(path, node)
	stars := strings.Count(path, "*")
	if context != "" && below(path, context) {
		stars -= strings.Count(context, "*")
	}
	switch {
	case rest == "/*" && kind == texts: // each element
		kind = text
	case rest != "" || kind == "":
		return ""
	}
	switch {
	case stars > 0 && kind == vector:
		return "a list of vectors"
	case stars > 0 && (kind == text || kind == texts):
		return texts
	case stars > 0:
		return ""
	}
	return kind
}

// duplicates checks that each path is written by only one output.
func (l *faults) duplicates(skills []skill) {
	writer := map[string]string{}
	for i := range skills {
		s := &skills[i]
		for _, out := range s.Outputs {
			path := s.path(out)
			if other, taken := writer[path]; taken {
				l.add(Fault{
					Kind: Duplicate, Path: "skills/" + s.Name + ".outputs/" + out.Name, Have: path,
					Problem: fmt.Sprintf("%s is written by skill %q already", path, other), Fix: "give one of the outputs another targetName",
				})
			}
			writer[path] = s.Name
		}
	}
}

// cycle reports a skill that needs its own output, directly or through others.
func (l *faults) cycle(skills []skill) {
	const underway, done = 1, 2
	state := make([]int, len(skills))
	var inCycle func(i int) int // a skill of a cycle that skill i leads to, or -1
	inCycle = func(i int) int {
		switch state[i] {
		case underway:
			return i
		case done:
			return -1
		}
		state[i] = underway
		for j := range skills {
			if skills[i].reads(&skills[j]) {
				if found := inCycle(j); found >= 0 {
					return found
				}
			}
		}
		state[i] = done
		return -1
	}
	for i := range skills {
		if i = inCycle(i); i >= 0 {
			l.add(Fault{
				Kind: Cycle, Path: "skills/" + skills[i].Name, Problem: "it needs its own output, by way of other skills or not", Fix: "take one of these inputs from the document, or from a skill that does not wait for this one",
				Service: invalid("Skill '#" + strconv.Itoa(i+1) + "' is part of a cycle: skills cannot need their own outputs"),
			})
			return
		}
	}
}

// reads reports whether the skill needs an output of another one, for an input or for its context.
func (s *skill) reads(other *skill) bool {
	needed := []string{s.Context}
	var visit func([]Input)
	visit = func(inputs []Input) {
		for _, in := range inputs {
			needed = append(append(needed, paths(in.Source)...), in.SourceContext)
			visit(in.Inputs)
		}
	}
	visit(s.Inputs)
	return slices.ContainsFunc(other.Outputs, func(o output) bool {
		path := other.path(o)
		return slices.ContainsFunc(needed, func(source string) bool { return below(source, path) })
	})
}
