package schema

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// lazyAnalysis compiles the analysis components of a definition when they are first needed,
// because most tests never search their indexes.
type lazyAnalysis struct {
	once       sync.Once
	components *analysis.Components
	err        error
}

// Components returns the analyzers and normalizers that the fields can name.
func (sc *Index) Components() (*analysis.Components, error) {
	lazy := &sc.lazyAnalysis
	lazy.once.Do(func() {
		def := sc.Parsed.Object
		raw := func(list string) (out []json.RawMessage) {
			for _, o := range def.Objects(list) {
				out = append(out, o.AppendTo(nil, apiversion.Latest()))
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

// TextField is a searchable string field at any level.
type TextField struct {
	Path       string
	Fields     []*stored.Field // from the outside in
	Definition *shape.Object
}

// collectTextFields appends the searchable string fields below fields.
func collectTextFields(dst []TextField, around []*stored.Field, path string, byName map[string]*stored.Field, defs []*shape.Object) []TextField {
	for _, d := range defs {
		f := byName[d.Str("name")]
		fields := append(slices.Clip(around), f)
		switch {
		case f.Type == stored.Complex:
			dst = collectTextFields(dst, fields, path+f.Name+"/", f.ByName, d.Objects("fields"))
		case f.Searchable && f.Type == stored.String:
			dst = append(dst, TextField{path + f.Name, fields, d})
		}
	}
	return dst
}

// NotAnalyzed returns the refusal of a request that needs text analysis that is not emulated
// or that cannot be built.
func NotAnalyzed(what string, err error) *reply.Error {
	if unsupported := (*analysis.UnsupportedError)(nil); errors.As(err, &unsupported) {
		return reply.NotImplemented("searchtest cannot do this for " + what + ": " + err.Error())
	}
	return &reply.Error{Status: http.StatusBadRequest, Message: "The definition of " + what + " cannot be used: " + err.Error()}
}

// Analyzers returns the analyzers of a field, for its values and for queries.
func (sc *Index) Analyzers(f *TextField) (index, search analysis.Analyzer, err error) {
	components, err := sc.Components()
	if err != nil {
		return nil, nil, err
	}
	both := f.Definition.Str("analyzer")
	if both == "" {
		both = "standard.lucene"
	}
	names := [2]string{both, both}
	for i, name := range []string{"indexAnalyzer", "searchAnalyzer"} {
		if own := f.Definition.Str(name); own != "" {
			names[i] = own
		}
	}
	if index, err = components.Analyzer(names[0]); err != nil {
		return nil, nil, err
	}
	search, err = components.Analyzer(names[1])
	return index, search, err
}

// TextConfig returns the configuration of the text index. synonyms are the synonym maps by
// name.
func (sc *Index) TextConfig(synonyms map[string]*textindex.Synonyms) (textindex.Config, *reply.Error) {
	var config textindex.Config
	for i := range sc.Texts {
		f := &sc.Texts[i]
		index, search, err := sc.Analyzers(f)
		if err != nil {
			return config, NotAnalyzed("the field '"+f.Path+"'", err)
		}
		field := textindex.Field{Path: f.Path, Index: index, Search: search}
		for _, name := range f.Definition.Strings("synonymMaps") { // at most one
			field.Synonyms = synonyms[name]
		}
		config.Fields = append(config.Fields, field)
	}
	config.Similarity = sc.similarity()
	return config, nil
}

// similarity returns the scoring algorithm.
func (sc *Index) similarity() textindex.Similarity {
	def := sc.Parsed.Object.Object("similarity")
	if def == nil || def.Str("@odata.type") != bm25Similarity {
		return textindex.Classic()
	}
	k1, b := 1.2, 0.75
	if def.Get("k1") != nil {
		k1 = def.Number("k1")
	}
	if def.Get("b") != nil {
		b = def.Number("b")
	}
	return textindex.BM25(k1, b)
}

// Document returns the texts of a document for the text index.
func (sc *Index) Document(data []byte) textindex.Document {
	doc := textindex.Document{Values: make([][]string, len(sc.Texts)), Nested: stored.CountElements(sc.Fields, data)}
	for i := range sc.Texts {
		doc.Values[i] = AppendTexts(nil, sc.Texts[i].Fields, data)
	}
	return doc
}

// AppendTexts appends the values of the string field at the end of path in object.
func AppendTexts(dst []string, path []*stored.Field, object []byte) []string {
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
		return AppendTexts(dst, path[1:], value)
	}
	return append(dst, string(value))
}

// Normalizer returns the function that normalizes values of a field before comparisons, nil
// for none.
func (sc *Index) Normalizer(f *stored.Field) func(text string) string {
	return sc.normalizers[f]
}

// CompileNormalizers compiles the normalizers of the fields.
func (sc *Index) CompileNormalizers() *reply.Error {
	lazy := &sc.lazyNormalizers
	lazy.once.Do(func() {
		lazy.err = sc.collectNormalizers("", sc.ByName, sc.Parsed.Object.Objects("fields"))
	})
	return lazy.err
}

// lazyNormalizers is the state of CompileNormalizers.
type lazyNormalizers struct {
	once sync.Once
	err  *reply.Error
}

func (sc *Index) collectNormalizers(path string, byName map[string]*stored.Field, defs []*shape.Object) *reply.Error {
	for _, d := range defs {
		f := byName[d.Str("name")]
		if f.Type == stored.Complex {
			if err := sc.collectNormalizers(path+f.Name+"/", f.ByName, d.Objects("fields")); err != nil {
				return err
			}
			continue
		}
		name := d.Str("normalizer")
		if name == "" {
			continue
		}
		components, err := sc.Components()
		if err != nil {
			return NotAnalyzed("the index '"+sc.Name+"'", err)
		}
		n, err := components.Normalizer(name)
		if err != nil {
			return NotAnalyzed("the field '"+path+f.Name+"'", err)
		}
		if sc.normalizers == nil {
			sc.normalizers = make(map[*stored.Field]func(string) string)
		}
		sc.normalizers[f] = n.Normalize
	}
	return nil
}

// SuggesterFields returns the source fields of a suggester, nil if it does not exist.
func (sc *Index) SuggesterFields(name string) []TextField {
	for _, d := range sc.Parsed.Object.Objects("suggesters") {
		if d.Str("name") != name {
			continue
		}
		var out []TextField
		for _, path := range d.Strings("sourceFields") {
			if i := sc.TextField(path); i >= 0 {
				out = append(out, sc.Texts[i])
			}
		}
		return out
	}
	return nil
}

// TextField returns the index in Texts of the field with that path, -1 for none.
func (sc *Index) TextField(path string) int {
	return slices.IndexFunc(sc.Texts, func(f TextField) bool { return f.Path == path })
}

// Find returns the fields along a path, outermost first, or nil.
func (sc *Index) Find(path string) []*stored.Field {
	byName := sc.ByName
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

// Expressions returns the options for compiling OData expressions.
func (sc *Index) Expressions() *odata.Options {
	return &odata.Options{Fields: sc.ByName, Normalize: sc.Normalizer}
}
