package searchtest

import (
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// validateAnalysis checks the custom analysis components: their names, their
// parameters, and that what they are made of exists.
func (d *indexDefinition) validateAnalysis() *serviceError {
	for _, list := range []string{"analyzers", "normalizers", "tokenizers", "tokenFilters", "charFilters"} {
		components := d.object.objects(list)
		if err := d.names(list, components); err != nil {
			return err
		}
		for _, c := range components {
			if name := c.str("name"); !componentNamePattern.MatchString(name) {
				return d.refuse("InvalidName", "Invalid name '"+name+"' in "+list+": it must only contain letters, digits, spaces, dashes or underscores, and start and end with a letter or digit.")
			}
			if reason := componentFault(c); reason != "" {
				return d.refuse("InvalidAnalysisComponent", "The component '"+c.str("name")+"' in "+list+" "+reason)
			}
		}
	}
	for _, a := range d.object.objects("analyzers") {
		if a.shape != analyzerShapes[componentType+"CustomAnalyzer"] {
			continue
		}
		if name := a.str("tokenizer"); !analysis.HasTokenizer(name) && d.component("tokenizers", name) == nil {
			return d.refuse("InvalidAnalyzer", "The analyzer '"+a.str("name")+"' uses the tokenizer '"+name+"' which is not defined.")
		}
		if err := d.filters("analyzer", a, analysis.HasTokenFilter, analysis.HasCharFilter); err != nil {
			return err
		}
	}
	wholeValue := func(name string) bool { return slices.Contains(normalizerTokenFilters, name) }
	none := func(string) bool { return false }
	for _, n := range d.object.objects("normalizers") {
		if err := d.filters("normalizer", n, wholeValue, none); err != nil {
			return err
		}
	}
	return nil
}

// filters checks the filters of an analyzer or normalizer.
func (d *indexDefinition) filters(what string, o *object, hasTokenFilter, hasCharFilter func(name string) bool) *serviceError {
	for _, name := range o.strings("tokenFilters") {
		if !hasTokenFilter(name) && d.component("tokenFilters", name) == nil {
			return d.refuse("InvalidAnalyzer", "The "+what+" '"+o.str("name")+"' uses the token filter '"+name+"' which is not defined.")
		}
	}
	for _, name := range o.strings("charFilters") {
		if !hasCharFilter(name) && d.component("charFilters", name) == nil {
			return d.refuse("InvalidAnalyzer", "The "+what+" '"+o.str("name")+"' uses the char filter '"+name+"' which is not defined.")
		}
	}
	return nil
}

// componentFault is what is wrong with the parameters of a component, "" if
// nothing.
func componentFault(c *object) string {
	for _, m := range c.shape.members {
		if m.kind == kindStrings && m.required && len(c.strings(m.name)) == 0 {
			return "must have something in '" + m.name + "'."
		}
	}
	for _, pair := range [][2]string{
		{"minGram", "maxGram"}, {"min", "max"}, {"minShingleSize", "maxShingleSize"}, {"minSubwordSize", "maxSubwordSize"},
	} {
		if c.shape.index(pair[0]) >= 0 && c.number(pair[0]) > c.number(pair[1]) {
			return "has a '" + pair[0] + "' that is greater than its '" + pair[1] + "'."
		}
	}
	if flags := c.str("flags"); flags != "" {
		for flag := range strings.SplitSeq(flags, "|") {
			if !slices.Contains(regexFlags, strings.TrimSpace(flag)) {
				return "has the unknown flag '" + flag + "'. Supported flags are: " + strings.Join(regexFlags, ", ") + "."
			}
		}
	}
	for _, name := range []string{"delimiter", "replacement"} {
		if c.shape == tokenizerShapes[componentType+"PathHierarchyTokenizerV2"] && len([]rune(c.str(name))) != 1 {
			return "must have a single character as its '" + name + "'."
		}
	}
	return ""
}
