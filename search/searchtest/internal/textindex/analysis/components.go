package analysis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Definition is the text analysis part of an index definition. Each entry is a JSON object with @odata.type, name
// and parameters.
type Definition struct {
	Analyzers    []json.RawMessage
	Tokenizers   []json.RawMessage
	TokenFilters []json.RawMessage
	CharFilters  []json.RawMessage
	Normalizers  []json.RawMessage

	// Approximate makes <language>.lucene replace <language>.microsoft. Defaults to false: those analyzers are
	// unsupported.
	Approximate bool
}

// Normalizer converts a whole value to the form that filters, facets and sorting use. It is safe for concurrent use.
type Normalizer interface {
	Normalize(value string) string
}

// Components are the analyzers and normalizers that the fields of one index can name, including those of the
// service. It is safe for concurrent use.
type Components struct {
	approximate  bool
	tokenizers   map[string]tokenizerSpec
	filters      map[string]filterSpec
	charFilters  map[string]charFilterSpec
	analyzers    map[string]func() (*chain, error) // each function compiles once
	normalizers  map[string]func() (*chain, error)
	analyzerName []string // names in the definition, for Check
	normalName   []string
}

// The specs hold the parameters of a component, and build it. For an invalid parameter they return an error that New
// wraps; for a component that is not available, an unsupportedPart.
type (
	tokenizerSpec  interface{ tokenizer() (tokenizer, error) }
	filterSpec     interface{ filters() ([]filter, error) }
	charFilterSpec interface{ charFilter() (charFilter, error) }
	analyzerSpec   interface {
		chain(*Components) (*chain, error)
	}
)

// unsupportedPart is an UnsupportedError whose component name is not known yet.
type unsupportedPart string

func (e unsupportedPart) Error() string { return string(e) }

// New reads a definition. Its error lists every problem for which the service would refuse the definition: unknown
// types and parameters, values out of range, and unknown names. Unsupported components are not an error of New, but
// of Analyzer, Normalizer, Chain and Check.
func New(d Definition) (*Components, error) {
	c := &Components{
		approximate: d.Approximate,
		tokenizers:  map[string]tokenizerSpec{},
		filters:     map[string]filterSpec{},
		charFilters: map[string]charFilterSpec{},
		analyzers:   map[string]func() (*chain, error){},
		normalizers: map[string]func() (*chain, error){},
	}
	var problems []error
	add := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	for _, raw := range d.CharFilters {
		name, spec, err := decode("char filter", charFilterTypes, raw)
		add(err)
		add(reserve(c.charFilters, "char filter", name, spec, err))
		if err == nil {
			_, err := spec.charFilter()
			add(parameterError("char filter", name, err))
		}
	}
	for _, raw := range d.Tokenizers {
		name, spec, err := decode("tokenizer", tokenizerTypes, raw)
		add(err)
		add(reserve(c.tokenizers, "tokenizer", name, spec, err))
		if err == nil {
			_, err := spec.tokenizer()
			add(parameterError("tokenizer", name, err))
		}
	}
	for _, raw := range d.TokenFilters {
		name, spec, err := decode("token filter", filterTypes, raw)
		add(err)
		add(reserve(c.filters, "token filter", name, spec, err))
		if err == nil {
			_, err := spec.filters()
			add(parameterError("token filter", name, err))
		}
	}
	for _, raw := range d.Analyzers {
		name, spec, err := decode("analyzer", analyzerTypes, raw)
		add(err)
		if err == nil {
			add(c.define(c.analyzers, "analyzer", name, spec))
			c.analyzerName = append(c.analyzerName, name)
		}
	}
	for _, raw := range d.Normalizers {
		name, spec, err := decode("normalizer", normalizerTypes, raw)
		add(err)
		if err == nil {
			add(c.define(c.normalizers, "normalizer", name, spec))
			c.normalName = append(c.normalName, name)
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return c, nil
}

// Analyzer returns the analyzer of a name, from the definition or the service. Its error is an *UnknownError or
// *UnsupportedError.
func (c *Components) Analyzer(name string) (Analyzer, error) {
	if compile, ok := c.analyzers[name]; ok {
		return compiled(compile())
	}
	if c.approximate {
		name = approximation(name)
	}
	if build, ok := builtInAnalyzers[name]; ok {
		return compiled(build())
	}
	return nil, &UnknownError{"analyzer", name}
}

func compiled(c *chain, err error) (Analyzer, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Normalizer returns the normalizer of a name, from the definition or the service. It has the same errors as
// Analyzer.
func (c *Components) Normalizer(name string) (Normalizer, error) {
	compile, ok := c.normalizers[name]
	if !ok {
		spec, ok := builtInNormalizers[name]
		if !ok {
			return nil, &UnknownError{"normalizer", name}
		}
		compile = func() (*chain, error) { return spec.chain(c) }
	}
	chain, err := compile()
	if err != nil {
		return nil, err
	}
	return normalizer{chain}, nil
}

// Chain builds an analyzer from the names of its parts, for the analyze API. It has the same errors as Analyzer.
func (c *Components) Chain(tokenizer string, tokenFilters, charFilters []string) (Analyzer, error) {
	return compiled(c.chain(tokenizer, tokenFilters, charFilters))
}

// Check compiles all analyzers and normalizers of the definition, and returns the joined errors of unsupported ones,
// nil if there are none. With it an emulator can refuse an index at its creation instead of at its first use. It
// does not check built-in analyzers that fields name; use Analyzer for these.
func (c *Components) Check() error {
	var problems []error
	for _, name := range c.analyzerName {
		if _, err := c.Analyzer(name); err != nil {
			problems = append(problems, err)
		}
	}
	for _, name := range c.normalName {
		if _, err := c.Normalizer(name); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// define adds an analyzer or normalizer under a name, and returns its error unless it is only unsupported.
func (c *Components) define(in map[string]func() (*chain, error), kind, name string, spec analyzerSpec) error {
	if _, ok := in[name]; ok {
		return &ParameterError{kind, name, "the name is used twice"}
	}
	compile := sync.OnceValues(func() (*chain, error) {
		chain, err := spec.chain(c)
		return chain, wrap(kind, name, err)
	})
	in[name] = compile
	_, err := compile()
	var unsupported *UnsupportedError
	if errors.As(err, &unsupported) {
		return nil
	}
	return err
}

// chain builds a chain from the names of its parts.
func (c *Components) chain(tokenizerName string, filters, charFilters []string) (*chain, error) {
	out := &chain{}
	for _, name := range charFilters {
		spec, ok := c.charFilters[name]
		if !ok {
			spec, ok = builtInCharFilters[name]
		}
		if !ok {
			return nil, &UnknownError{"char filter", name}
		}
		f, err := spec.charFilter()
		if err != nil {
			return nil, wrap("char filter", name, err)
		}
		out.charFilters = append(out.charFilters, f)
	}

	spec, ok := c.tokenizers[tokenizerName]
	if !ok {
		spec, ok = builtInTokenizers[tokenizerName]
	}
	if !ok {
		return nil, &UnknownError{"tokenizer", tokenizerName}
	}
	t, err := spec.tokenizer()
	if err != nil {
		return nil, wrap("tokenizer", tokenizerName, err)
	}
	out.tokenizer = t

	for _, name := range filters {
		spec, ok := c.filters[name]
		if !ok {
			spec, ok = builtInFilters[name]
		}
		if !ok {
			return nil, &UnknownError{"token filter", name}
		}
		fs, err := spec.filters()
		if err != nil {
			return nil, wrap("token filter", name, err)
		}
		out.filters = append(out.filters, fs...)
	}
	return out, nil
}

// wrap adds the kind and name of the component to the error of a part.
func wrap(kind, name string, err error) error {
	var part unsupportedPart
	var unsupported *UnsupportedError
	var unknown *UnknownError
	var parameter *ParameterError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unsupported), errors.As(err, &unknown), errors.As(err, &parameter):
		return err
	case errors.As(err, &part):
		return &UnsupportedError{kind, name, string(part)}
	}
	return &ParameterError{kind, name, err.Error()}
}

// parameterError is wrap for New, which ignores that a component is unsupported.
func parameterError(kind, name string, err error) error {
	var part unsupportedPart
	if errors.As(err, &part) {
		return nil
	}
	return wrap(kind, name, err)
}

// reserve stores spec under its name, unless decoding it failed.
func reserve[S any](in map[string]S, kind, name string, spec S, err error) error {
	if err != nil {
		return nil
	}
	if _, ok := in[name]; ok {
		return &ParameterError{kind, name, "the name is used twice"}
	}
	in[name] = spec
	return nil
}

const typePrefix = "#Microsoft.Azure.Search."

// decode parses one component. types maps an @odata.type, without its prefix, to a spec with default parameters.
func decode[S any](kind string, types map[string]func() S, raw json.RawMessage) (name string, spec S, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return "", spec, fmt.Errorf("a %s is not a JSON object: %w", kind, err)
	}
	var typeName string
	_ = json.Unmarshal(members["name"], &name) // a name that is not a string counts as empty
	_ = json.Unmarshal(members["@odata.type"], &typeName)
	if name == "" {
		return "", spec, fmt.Errorf("a %s has no name", kind)
	}
	short, ok := strings.CutPrefix(typeName, typePrefix)
	build := types[short]
	if !ok || build == nil {
		return "", spec, &ParameterError{kind, name, fmt.Sprintf("there is no @odata.type '%s'", typeName)}
	}
	delete(members, "name")
	delete(members, "@odata.type")
	parameters, err := json.Marshal(members)
	if err != nil {
		return "", spec, &ParameterError{kind, name, err.Error()}
	}
	spec = build()
	d := json.NewDecoder(bytes.NewReader(parameters))
	d.DisallowUnknownFields() // an unknown parameter must be an error
	if err := d.Decode(spec); err != nil {
		return "", spec, &ParameterError{kind, name, strings.TrimPrefix(err.Error(), "json: ")}
	}
	return name, spec, nil
}

// names returns the sorted keys of a table.
func names[V any](table map[string]V) []string {
	out := make([]string, 0, len(table))
	for name := range table {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
