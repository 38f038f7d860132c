package searchtest

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// lazyAnalysis compiles the analysis components of a definition when they are
// first needed: most indexes of tests are only written to.
type lazyAnalysis struct {
	once       sync.Once
	components *analysis.Components
	err        error
}

// analysis returns the analyzers and normalizers that the fields can name.
func (sc *schema) analysis() (*analysis.Components, error) {
	lazy := &sc.lazyAnalysis
	lazy.once.Do(func() {
		def := sc.parsed.object
		raw := func(list string) (out []json.RawMessage) {
			for _, o := range def.objects(list) {
				out = append(out, o.appendTo(nil, latest))
			}
			return out
		}
		lazy.components, lazy.err = analysis.New(analysis.Definition{
			Analyzers: raw("analyzers"), Tokenizers: raw("tokenizers"), TokenFilters: raw("tokenFilters"),
			CharFilters: raw("charFilters"), Normalizers: raw("normalizers"),
		})
	})
	return lazy.components, lazy.err
}

// textField is a searchable string field, wherever it lies.
type textField struct {
	path       string
	fields     []*stored.Field // from the outside in
	definition *object
}

// collectTextFields appends the searchable string fields below fields.
func collectTextFields(dst []textField, around []*stored.Field, path string, byName map[string]*stored.Field, defs []*object) []textField {
	for _, d := range defs {
		f := byName[d.str("name")]
		fields := append(slices.Clip(around), f)
		switch {
		case f.Type == stored.Complex:
			dst = collectTextFields(dst, fields, path+f.Name+"/", f.ByName, d.objects("fields"))
		case f.Searchable && f.Type == stored.String:
			dst = append(dst, textField{path + f.Name, fields, d})
		}
	}
	return dst
}

// notAnalyzed is the refusal of a request that needs a part of text analysis
// that the emulator does not have, or cannot make.
func notAnalyzed(what string, err error) *serviceError {
	if unsupported := (*analysis.UnsupportedError)(nil); errors.As(err, &unsupported) {
		return notImplemented("searchtest cannot do this for " + what + ": " + err.Error())
	}
	return &serviceError{status: http.StatusBadRequest, message: "The definition of " + what + " cannot be used: " + err.Error()}
}

// analyzers returns what turns the texts of a field, and queries, into terms.
func (sc *schema) analyzers(f *textField) (index, search analysis.Analyzer, err error) {
	components, err := sc.analysis()
	if err != nil {
		return nil, nil, err
	}
	both := f.definition.str("analyzer")
	if both == "" {
		both = "standard.lucene"
	}
	names := [2]string{both, both}
	for i, name := range []string{"indexAnalyzer", "searchAnalyzer"} {
		if own := f.definition.str(name); own != "" {
			names[i] = own
		}
	}
	if index, err = components.Analyzer(names[0]); err != nil {
		return nil, nil, err
	}
	search, err = components.Analyzer(names[1])
	return index, search, err
}

// textConfig describes the text index of the definition, with the synonym maps
// by name.
func (sc *schema) textConfig(synonyms map[string]*textindex.Synonyms) (textindex.Config, *serviceError) {
	var config textindex.Config
	for i := range sc.texts {
		f := &sc.texts[i]
		index, search, err := sc.analyzers(f)
		if err != nil {
			return config, notAnalyzed("the field '"+f.path+"'", err)
		}
		field := textindex.Field{Path: f.path, Index: index, Search: search}
		for _, name := range f.definition.strings("synonymMaps") { // one at the most
			field.Synonyms = synonyms[name]
		}
		config.Fields = append(config.Fields, field)
	}
	config.Similarity = sc.similarity()
	return config, nil
}

// similarity is how matches are scored.
func (sc *schema) similarity() textindex.Similarity {
	def := sc.parsed.object.object("similarity")
	if def == nil || def.str("@odata.type") != bm25Similarity {
		return textindex.Classic()
	}
	k1, b := 1.2, 0.75
	if def.get("k1") != nil {
		k1 = def.number("k1")
	}
	if def.get("b") != nil {
		b = def.number("b")
	}
	return textindex.BM25(k1, b)
}

// document returns what the text index keeps of a document.
func (sc *schema) document(data []byte) textindex.Document {
	doc := textindex.Document{Values: make([][]string, len(sc.texts)), Nested: stored.CountElements(sc.fields, data)}
	for i := range sc.texts {
		doc.Values[i] = appendTexts(nil, sc.texts[i].fields, data)
	}
	return doc
}

// appendTexts appends the values of a string field, which lies in object at the
// end of path.
func appendTexts(dst []string, path []*stored.Field, object []byte) []string {
	f := path[0]
	value, found := stored.FindValue(object, f.Ordinal)
	if !found {
		return dst
	}
	if !f.Collection {
		return appendText(dst, path, value)
	}
	for rest := value; len(rest) > 0; {
		var element []byte
		element, rest = stored.NextElement(rest, 0)
		dst = appendText(dst, path, element)
	}
	return dst
}

func appendText(dst []string, path []*stored.Field, value []byte) []string {
	if len(path) > 1 {
		return appendTexts(dst, path[1:], value)
	}
	return append(dst, string(value))
}

// normalizer returns what is applied to the values of a field before they are
// compared, nil if nothing is.
func (sc *schema) normalizer(f *stored.Field) func(text string) string {
	return sc.normalizers[f]
}

// compileNormalizers makes the normalizers that fields name.
func (sc *schema) compileNormalizers() *serviceError {
	lazy := &sc.lazyNormalizers
	lazy.once.Do(func() {
		lazy.err = sc.collectNormalizers("", sc.byName, sc.parsed.object.objects("fields"))
	})
	return lazy.err
}

// lazyNormalizers is whether that has been done.
type lazyNormalizers struct {
	once sync.Once
	err  *serviceError
}

func (sc *schema) collectNormalizers(path string, byName map[string]*stored.Field, defs []*object) *serviceError {
	for _, d := range defs {
		f := byName[d.str("name")]
		if f.Type == stored.Complex {
			if err := sc.collectNormalizers(path+f.Name+"/", f.ByName, d.objects("fields")); err != nil {
				return err
			}
			continue
		}
		name := d.str("normalizer")
		if name == "" {
			continue
		}
		components, err := sc.analysis()
		if err != nil {
			return notAnalyzed("the index '"+sc.name+"'", err)
		}
		n, err := components.Normalizer(name)
		if err != nil {
			return notAnalyzed("the field '"+path+f.Name+"'", err)
		}
		if sc.normalizers == nil {
			sc.normalizers = make(map[*stored.Field]func(string) string)
		}
		sc.normalizers[f] = n.Normalize
	}
	return nil
}

// suggesterFields returns the source fields of a suggester, nil if there is no
// suggester of that name.
func (sc *schema) suggesterFields(name string) []textField {
	for _, d := range sc.parsed.object.objects("suggesters") {
		if d.str("name") != name {
			continue
		}
		var out []textField
		for _, path := range d.strings("sourceFields") {
			if i := sc.textField(path); i >= 0 {
				out = append(out, sc.texts[i])
			}
		}
		return out
	}
	return nil
}

// textField returns the place of a searchable string field in texts, -1 if there
// is none of that path.
func (sc *schema) textField(path string) int {
	return slices.IndexFunc(sc.texts, func(f textField) bool { return f.path == path })
}

// find returns the fields along a path, from the outside in, or nil.
func (sc *schema) find(path string) []*stored.Field {
	byName := sc.byName
	var out []*stored.Field
	for name := range strings.SplitSeq(path, "/") {
		f := byName[name]
		if f == nil {
			return nil
		}
		out, byName = append(out, f), f.ByName
	}
	return out
}
