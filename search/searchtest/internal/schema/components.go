package schema

import (
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// validateAnalysis checks the names and parameters of custom analysis components, and that
// the components to which they refer exist.
func (d *definition) validateAnalysis() *reply.Error {
	for _, list := range []string{"analyzers", "normalizers", "tokenizers", "tokenFilters", "charFilters"} {
		components := d.Object.Objects(list)
		if err := d.names(list, components); err != nil {
			return err
		}
		for _, c := range components {
			if name := c.Str("name"); !componentNamePattern.MatchString(name) {
				return d.Refuse("InvalidName", "Invalid name '"+name+"' in "+list+": it must only contain letters, digits, spaces, dashes or underscores, and start and end with a letter or digit.")
			}
			if reason := componentFault(c); reason != "" {
				return d.Refuse("InvalidAnalysisComponent", "The component '"+c.Str("name")+"' in "+list+" "+reason)
			}
		}
	}
	for _, a := range d.Object.Objects("analyzers") {
		if a.Shape != analyzerShapes[ComponentType+"CustomAnalyzer"] {
			continue
		}
		if name := a.Str("tokenizer"); !analysis.HasTokenizer(name) && d.component("tokenizers", name) == nil {
			return d.Refuse("InvalidAnalyzer", "The analyzer '"+a.Str("name")+"' uses the tokenizer '"+name+"' which is not defined.")
		}
		if err := d.filters("analyzer", a, analysis.HasTokenFilter, analysis.HasCharFilter); err != nil {
			return err
		}
	}
	wholeValue := func(name string) bool { return slices.Contains(normalizerTokenFilters, name) }
	none := func(string) bool { return false }
	for _, n := range d.Object.Objects("normalizers") {
		if err := d.filters("normalizer", n, wholeValue, none); err != nil {
			return err
		}
	}
	return nil
}

// filters checks the filters of an analyzer or normalizer.
func (d *definition) filters(what string, o *shape.Object, hasTokenFilter, hasCharFilter func(name string) bool) *reply.Error {
	for _, name := range o.Strings("tokenFilters") {
		if !hasTokenFilter(name) && d.component("tokenFilters", name) == nil {
			return d.Refuse("InvalidAnalyzer", "The "+what+" '"+o.Str("name")+"' uses the token filter '"+name+"' which is not defined.")
		}
	}
	for _, name := range o.Strings("charFilters") {
		if !hasCharFilter(name) && d.component("charFilters", name) == nil {
			return d.Refuse("InvalidAnalyzer", "The "+what+" '"+o.Str("name")+"' uses the char filter '"+name+"' which is not defined.")
		}
	}
	return nil
}

// componentFault returns the error in the parameters of a component, "" for none.
func componentFault(c *shape.Object) string {
	for _, m := range c.Shape.Members {
		if m.Kind == shape.KindStrings && m.Required && len(c.Strings(m.Name)) == 0 {
			return "must have something in '" + m.Name + "'."
		}
	}
	for _, pair := range [][2]string{
		{"minGram", "maxGram"}, {"min", "max"}, {"minShingleSize", "maxShingleSize"}, {"minSubwordSize", "maxSubwordSize"},
	} {
		if c.Shape.Index(pair[0]) >= 0 && c.Number(pair[0]) > c.Number(pair[1]) {
			return "has a '" + pair[0] + "' that is greater than its '" + pair[1] + "'."
		}
	}
	if flags := c.Str("flags"); flags != "" {
		for flag := range strings.SplitSeq(flags, "|") {
			if !slices.Contains(regexFlags, strings.TrimSpace(flag)) {
				return "has the unknown flag '" + flag + "'. Supported flags are: " + strings.Join(regexFlags, ", ") + "."
			}
		}
	}
	for _, name := range []string{"delimiter", "replacement"} {
		if c.Shape == tokenizerShapes[ComponentType+"PathHierarchyTokenizerV2"] && len([]rune(c.Str(name))) != 1 {
			return "must have a single character as its '" + name + "'."
		}
	}
	return ""
}
