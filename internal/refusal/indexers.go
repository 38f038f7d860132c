package refusal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

type mapping struct {
	SourceFieldName, TargetFieldName string
	MappingFunction                  *struct {
		Name       string
		Parameters map[string]any
	}
}

type indexer struct {
	Name, DataSourceName, SkillsetName, TargetIndexName string
	Schedule                                            *struct{ Interval, StartTime string }
	Parameters                                          struct {
		BatchSize, MaxFailedItems, MaxFailedItemsPerBatch *int
		Configuration                                     struct {
			FirstLineContainsHeaders    *bool
			DelimitedTextHeaders        string
			AllowSkillsetToReadFileData bool
			// Enumerations.
			ParsingMode, DataToExtract, ImageAction, MarkdownParsingSubmode, PDFTextRotationAlgorithm, ExecutionEnvironment string
		}
	}
	FieldMappings, OutputFieldMappings []mapping
	EncryptionKey                      *encryptionKey
}

// Indexer returns the faults of an indexer, including those with respect to the definitions that it refers to.
func Indexer(definition json.RawMessage, others Others) (l faults, err error) {
	var x indexer
	if err := decode(definition, &x); err != nil {
		return nil, err
	}
	l.name("Indexer", x.Name)
	l.encryption(x.EncryptionKey)
	l.needs([2]string{"dataSourceName", x.DataSourceName}, [2]string{"targetIndexName", x.TargetIndexName})
	l.schedule(&x)
	l.parameters(&x)
	var enriched skillset
	known := others.read("skillsets", x.SkillsetName, &enriched)
	complete(enriched.Skills)
	tree := treeOf(enriched.Skills)
	l.mappings(&x, "fieldMappings", x.FieldMappings, others, func(mapping) string { return "" })
	fields, _ := others.fields(x.TargetIndexName)
	l.mappings(&x, "outputFieldMappings", x.OutputFieldMappings, others, func(m mapping) string {
		at := "outputFieldMappings/" + m.SourceFieldName
		l.source(at, m.SourceFieldName, tree)
		l.dimensions(at, enriched.Skills, m.SourceFieldName, field(fields, cmp.Or(m.TargetFieldName, m.SourceFieldName)))
		return tree.kind(m.SourceFieldName, "")
	})
	var source dataSource
	if known && others.read("datasources", x.DataSourceName, &source) && slices.Contains(files, source.Type) {
		l.crack(&x, enriched.Skills, tree)
	}
	return l, nil
}

func (l *faults) schedule(x *indexer) {
	if x.Schedule == nil {
		return
	}
	every, ok := duration(x.Schedule.Interval)
	if !ok || every < 5*time.Minute || every > 24*time.Hour {
		l.add(Fault{
			Kind: Value, Path: "schedule.interval", Have: x.Schedule.Interval, Want: "PT5M to P1D", Problem: fmt.Sprintf("got the interval %q", x.Schedule.Interval),
			Fix: `use an ISO 8601 duration from 5 minutes to 1 day, such as "PT2H"`, Unsent: true,
			Code: "InvalidIndexerSchedule", Service: "The interval '" + x.Schedule.Interval + "' of the indexer '" + x.Name + "' must be between 5 minutes and 1 day.",
		})
	}
}

func (l *faults) parameters(x *indexer) {
	for _, p := range []struct {
		name  string
		value *int
		least int
	}{{"batchSize", x.Parameters.BatchSize, 1}, {"maxFailedItems", x.Parameters.MaxFailedItems, -1}, {"maxFailedItemsPerBatch", x.Parameters.MaxFailedItemsPerBatch, -1}} {
		if p.value != nil && *p.value < p.least {
			l.add(Fault{Kind: Value, Path: "parameters." + p.name, Problem: fmt.Sprintf("got %d", *p.value), Fix: fmt.Sprintf("use %d or more", p.least)})
		}
	}
	c := &x.Parameters.Configuration
	for _, p := range []struct{ name, have, values string }{
		{"parsingMode", c.ParsingMode, "default text delimitedText json jsonArray jsonLines markdown"},
		{"dataToExtract", c.DataToExtract, "storageMetadata allMetadata contentAndMetadata"},
		{"imageAction", c.ImageAction, "none generateNormalizedImages generateNormalizedImagePerPage"},
		{"markdownParsingSubmode", c.MarkdownParsingSubmode, "oneToMany oneToOne"},
		{"pdfTextRotationAlgorithm", c.PDFTextRotationAlgorithm, "none detectAngles"},
		{"executionEnvironment", c.ExecutionEnvironment, "standard private"},
	} {
		if p.have != "" {
			l.among("parameters.configuration."+p.name, p.have, strings.Fields(p.values))
		}
	}
	if c.FirstLineContainsHeaders != nil && !*c.FirstLineContainsHeaders && c.DelimitedTextHeaders == "" {
		l.add(Fault{Kind: Value, Path: "parameters.configuration.delimitedTextHeaders", Problem: "it has no value, and the first line does not contain headers", Fix: "name the columns in it, separated by commas"})
	}
	if c.ImageAction != "" && c.ImageAction != "none" && x.SkillsetName == "" {
		l.add(Fault{Kind: Value, Path: "parameters.configuration.imageAction", Have: c.ImageAction, Want: "none", Problem: "images are made for skills, and the indexer has no skillset", Fix: "set skillsetName, or leave imageAction out"})
	}
}

// results are the types of values that mapping functions return.
var results = map[string]string{
	"base64Encode": text, "base64Decode": text, "extractTokenAtPosition": text, "urlEncode": text, "urlDecode": text, "fixedLengthEncode": text,
	"jsonArrayToStringCollection": texts, "toJson": complex,
}

// mappings checks one list of mappings. kindOf returns the kind of a mapping's source, or "" if unknown.
func (l *faults) mappings(x *indexer, list string, mappings []mapping, others Others, kindOf func(mapping) string) {
	fields, known := others.fields(x.TargetIndexName)
	taken := map[string]string{}
	for _, m := range mappings {
		at := list + "/" + m.SourceFieldName
		l.needs([2]string{at + ".sourceFieldName", m.SourceFieldName})
		target, kind := m.TargetFieldName, kindOf(m)
		if target == "" {
			target = m.SourceFieldName
		}
		if f := m.MappingFunction; f != nil {
			l.among(at+".mappingFunction.name", f.Name, slices.Sorted(maps.Keys(results)))
			kind = results[f.Name]
			if _, delimited := f.Parameters["delimiter"]; f.Name == "extractTokenAtPosition" && (!delimited || f.Parameters["position"] == nil) {
				l.add(Fault{Kind: Value, Path: at + ".mappingFunction.parameters", Problem: "extractTokenAtPosition needs delimiter and position", Fix: "set both"})
			}
		}
		if other, is := taken[strings.ToLower(target)]; is {
			l.add(Fault{
				Kind: Duplicate, Path: at + ".targetFieldName", Have: target, Problem: fmt.Sprintf("field %q is filled from %q already", target, other), Fix: "leave one of the mappings out",
				Code: "InvalidIndexer", Service: "The field '" + target + "' is the target of more than one mapping in '" + list + "' of the indexer '" + x.Name + "'.",
			})
		}
		taken[strings.ToLower(target)] = m.SourceFieldName
		if known {
			l.target(Fault{
				Path: at + ".targetFieldName", Code: "InvalidIndexer",
				Service: "The target field '" + target + "' of a mapping of the indexer '" + x.Name + "' does not exist in the index '" + x.TargetIndexName + "'.",
			}, x.TargetIndexName, fields, target, kind)
		}
	}
}

// target checks a field of an index that receives a value of this kind, "" if unknown. f is the prototype of a fault.
func (l *faults) target(f Fault, index string, fields []Field, name, kind string) {
	have := field(fields, name)
	if have == nil {
		f.Kind, f.Want = MissingField, name
		f.Problem = fmt.Sprintf("index %q does not have the field %q", index, name)
		f.Fix = "add the field to the index, or name another one"
		l.add(f)
		return
	}
	element, list := strings.CutPrefix(have.Type, "Collection(")
	element = strings.TrimSuffix(element, ")")
	isText, isComplex := element == "Edm.String", element == "Edm.ComplexType"
	isNumber := !isText && !isComplex && strings.HasPrefix(element, "Edm.") && element != "Edm.DateTimeOffset" && element != "Edm.Boolean" && element != "Edm.GeographyPoint"
	fits, want := true, ""
	switch kind {
	case text: // also from dates and numbers, whose kind text may be
		fits, want = !list && !isComplex, "Edm.String"
	case number:
		fits, want = !list && (isNumber || isText), "Edm.Double"
	case texts:
		fits, want = list && isText, "Collection(Edm.String)"
	case vector:
		fits, want = list && isNumber, "Collection(Edm.Single)"
	case "a list of vectors":
		fits, want = false, "a document for each of them"
	case complex:
		fits, want = isComplex, "Edm.ComplexType"
	}
	if !fits {
		f.Kind, f.Have, f.Want, f.Service, f.Code = FieldType, have.Type, want, "", ""
		f.Problem = fmt.Sprintf("it gets %s, and field %q of index %q is %s", kind, have.Name, index, have.Type)
		f.Fix = "map it to a field of type " + want
		if kind == "a list of vectors" {
			f.Fix = "make a document of each with indexProjections of the skillset"
		}
		l.add(f)
	}
}

// dimensions checks that a field takes vectors of the length that a skill is set to make: the service refuses a
// document with a vector of another length.
func (l *faults) dimensions(path string, skills []skill, source string, f *Field) {
	for i := range skills {
		s := &skills[i]
		if f == nil || f.Dimensions == nil || s.Dimensions == nil || s.typ() != embedding || *s.Dimensions == *f.Dimensions {
			continue
		}
		if slices.ContainsFunc(s.Outputs, func(o output) bool { return s.path(o) == source }) {
			l.add(Fault{
				Kind: FieldType, Path: path, Have: strconv.Itoa(*f.Dimensions), Want: strconv.Itoa(*s.Dimensions),
				Problem: fmt.Sprintf("skill %q makes vectors of %d dimensions, and field %q takes %d", s.Name, *s.Dimensions, f.Name, *f.Dimensions),
				Fix:     "give both the same dimensions; for the field that takes a new index",
			})
		}
	}
}

// crack checks that an indexer of files produces what its skills read.
func (l *faults) crack(x *indexer, skills []skill, tree tree) {
	c := &x.Parameters.Configuration
	reads := func(path string) bool {
		other := skill{Context: "/document", Outputs: []output{{Name: path}}}
		return tree.nearest("/document/"+path) == "" && slices.ContainsFunc(skills, func(s skill) bool { return s.reads(&other) })
	}
	if (c.ImageAction == "" || c.ImageAction == "none") && reads("normalized_images") {
		l.add(Fault{Kind: Reference, Path: "parameters.configuration.imageAction", Want: "generateNormalizedImages", Problem: "skills read /document/normalized_images, which the indexer does not make", Fix: "set it to generateNormalizedImages"})
	}
	if !c.AllowSkillsetToReadFileData && reads("file_data") {
		l.add(Fault{Kind: Reference, Path: "parameters.configuration.allowSkillsetToReadFileData", Want: "true", Problem: "skills read /document/file_data, which the indexer does not give them", Fix: "set it to true"})
	}
}

// projections checks the index projections of a skillset.
func (l *faults) projections(s skillset, tree tree, others Others) {
	if mode := s.IndexProjections.Parameters.ProjectionMode; mode != nil {
		l.among("indexProjections.parameters.projectionMode", *mode, []string{"skipIndexingParentDocuments", "includeIndexingParentDocuments"})
	}
	for _, p := range s.IndexProjections.Selectors {
		path := "indexProjections.selectors/" + p.TargetIndexName
		l.needs([2]string{path + ".targetIndexName", p.TargetIndexName}, [2]string{path + ".parentKeyFieldName", p.ParentKeyFieldName}, [2]string{path + ".sourceContext", p.SourceContext})
		l.source(path+".sourceContext", p.SourceContext, tree)
		fields, known := others.fields(p.TargetIndexName)
		if known {
			l.keys(path, p, fields)
		}
		seen := map[string]bool{}
		for i, m := range p.Mappings {
			at := path + ".mappings/" + m.Name
			if m.Name == "" {
				l.needs([2]string{path + ".mappings/#" + strconv.Itoa(i+1) + ".name", ""})
				continue
			}
			if seen[strings.ToLower(m.Name)] {
				l.add(Fault{Kind: Duplicate, Path: at, Have: m.Name, Problem: "two mappings fill this field", Fix: "leave one of them out"})
			}
			seen[strings.ToLower(m.Name)] = true
			for _, source := range paths(m.Source) {
				l.source(at, source, tree)
			}
			l.sources(at, m.Inputs, tree)
			if known {
				l.dimensions(at, s.Skills, m.Source, field(fields, m.Name))
				l.target(Fault{Path: at}, p.TargetIndexName, fields, m.Name, tree.kind(m.Source, p.SourceContext))
			}
		}
	}
}

// InvalidSelector frames the service's message about a selector of index projections.
func InvalidSelector(index, reason string) string {
	return "One or more index projection selectors are invalid. Details: Index '" + index + "' " + reason
}

// keys checks the keys of projected documents: their own, and that of their parent document. The published
// specification states these rules.
func (l *faults) keys(path string, p selector, fields []Field) {
	for _, f := range fields {
		if f.Key && f.Analyzer != "keyword" {
			l.add(Fault{
				Kind: Attribute, Path: path + ".targetIndexName", Have: f.Analyzer, Want: "keyword",
				Service: InvalidSelector(p.TargetIndexName, "must have a key field with the 'keyword' analyzer."),
				Problem: fmt.Sprintf("the key %q of index %q does not have the analyzer keyword, which projections need", f.Name, p.TargetIndexName), Fix: `make the key searchable with "analyzer": "keyword"; that takes a new index`,
			})
		}
	}
	at := p.ParentKeyFieldName
	f := Fault{
		Path:    path + ".parentKeyFieldName",
		Service: InvalidSelector(p.TargetIndexName, "must have the parent key field '"+at+"' as a filterable string field that is not the key."),
	}
	parent := field(fields, at)
	switch {
	case at == "":
	case parent == nil:
		l.target(f, p.TargetIndexName, fields, at, "")
	case parent.Key:
		f.Kind, f.Problem, f.Fix = Attribute, fmt.Sprintf("field %q is the key of the projected documents themselves", at), "name a filterable string field of its own"
		l.add(f)
	case parent.Type != "Edm.String":
		f.Kind, f.Have, f.Want = FieldType, parent.Type, "Edm.String"
		f.Problem, f.Fix = fmt.Sprintf("field %q is %s", at, parent.Type), "name a filterable field of type Edm.String"
		l.add(f)
	case parent.Filterable != nil && !*parent.Filterable:
		f.Kind, f.Want, f.Problem, f.Fix = Attribute, "filterable", fmt.Sprintf("field %q is not filterable", at), "make it filterable; that takes a new index"
		l.add(f)
	}
}
