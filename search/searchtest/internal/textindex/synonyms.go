package textindex

import (
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// maxRuleTerms is the service's limit on the terms of one rule.
const maxRuleTerms = 20

// Synonyms is a synonym map as it is written, not analyzed yet. A nil *Synonyms
// has no rules. It is safe for concurrent use.
type Synonyms struct {
	lines []synonymLine
}

type synonymLine struct {
	from, to []string
	explicit bool // from is replaced by to; else all stand for one another
}

// SynonymError says which rule of a synonym map cannot be read.
type SynonymError struct {
	Line   int    // from 1
	Rule   string // the line
	Reason string // a sentence
}

func (e *SynonymError) Error() string {
	return fmt.Sprintf("Syntax error in line %d: '%s'. %s", e.Line, e.Rule, e.Reason)
}

// ParseSynonyms reads rules in the Solr format, one a line: "a, b, c" for terms
// that stand for one another and "a, b => c" for terms that are replaced. Empty
// lines and those that start with # are skipped; a backslash takes the meaning
// from the character after it. Several maps of one field are read one after the
// other: ParseSynonyms joins them. An error is a *SynonymError.
func ParseSynonyms(maps ...string) (*Synonyms, error) {
	s := new(Synonyms)
	for _, text := range maps {
		for i, line := range strings.Split(text, "\n") {
			line = strings.TrimSpace(line)
			if strings.Trim(line, ", \t") == "" || line[0] == '#' { // recorded: commas without terms say nothing
				continue
			}
			rule, reason := parseSynonymLine(line)
			if reason != "" {
				return nil, &SynonymError{Line: i + 1, Rule: line, Reason: reason}
			}
			s.lines = append(s.lines, rule)
		}
	}
	return s, nil
}

// Len is the number of rules.
func (s *Synonyms) Len() int {
	if s == nil {
		return 0
	}
	return len(s.lines)
}

func parseSynonymLine(line string) (rule synonymLine, reason string) {
	sides := splitUnescaped(line, "=>")
	if len(sides) > 2 {
		return rule, "Only one explicit mapping (=>) can be specified in a synonym rule."
	}
	for i, side := range sides {
		var terms []string
		for _, item := range splitUnescaped(side, ",") {
			if item = strings.TrimSpace(unescapeSynonym(item)); item != "" {
				terms = append(terms, item)
			}
		}
		if len(terms) == 0 {
			return rule, "A synonym rule needs at least one term on each side."
		}
		if i == 0 {
			rule.from = terms
		} else {
			rule.to, rule.explicit = terms, true
		}
	}
	if len(rule.from)+len(rule.to) > maxRuleTerms {
		return rule, fmt.Sprintf("A synonym rule can have at most %d terms.", maxRuleTerms)
	}
	return rule, ""
}

func splitUnescaped(s, separator string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], separator):
			parts = append(parts, s[start:i])
			i += len(separator) - 1
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

func unescapeSynonym(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// synonymRules are rules as one field's analyzer reads them, by the first term of
// what they apply to, longest first.
type synonymRules map[string][]synonymRule

type synonymRule struct {
	from []string
	to   [][]string // alternatives, each one or more terms in a row
}

// rules analyzes the map. Rules for the same terms add up. A rule is left out if the
// analyzer leaves nothing of what its terms are to become, as Lucene does where it is
// lenient.
func (s *Synonyms) rules(a analysis.Analyzer) synonymRules {
	if s.Len() == 0 {
		return nil
	}
	rules := make(synonymRules)
	for _, line := range s.lines {
		to := line.to
		if !line.explicit {
			to = line.from
		}
		var alternatives [][]string
		for _, text := range to {
			if terms := termsOf(a, text); len(terms) > 0 {
				alternatives = appendAlternative(alternatives, terms)
			}
		}
		if len(alternatives) == 0 {
			continue
		}
		for _, text := range line.from {
			if from := termsOf(a, text); len(from) > 0 {
				rules.add(from, alternatives, !line.explicit)
			}
		}
	}
	return rules
}

func (r synonymRules) add(from []string, to [][]string, keep bool) {
	known := r[from[0]]
	at := len(known)
	for i := range known {
		if equalTerms(known[i].from, from) {
			at = i
			break
		}
	}
	if at == len(known) {
		known = append(known, synonymRule{from: from})
	}
	if keep {
		known[at].to = appendAlternative(known[at].to, from)
	}
	for _, terms := range to {
		known[at].to = appendAlternative(known[at].to, terms)
	}
	for at > 0 && len(known[at-1].from) < len(known[at].from) {
		known[at-1], known[at] = known[at], known[at-1]
		at--
	}
	r[from[0]] = known
}

// match is the rule with the most terms that applies where terms begin.
func (r synonymRules) match(terms []slot) (synonymRule, bool) {
	for _, rule := range r[terms[0].term] {
		if len(rule.from) > len(terms) {
			continue
		}
		same := true
		for i, term := range rule.from {
			if terms[i].term != term || terms[i].position != terms[0].position+i {
				same = false
				break
			}
		}
		if same {
			return rule, true
		}
	}
	return synonymRule{}, false
}

func termsOf(a analysis.Analyzer, text string) []string {
	var terms []string
	for _, t := range a.Analyze(text) {
		terms = append(terms, t.Text)
	}
	return terms
}

func appendAlternative(alternatives [][]string, terms []string) [][]string {
	for _, known := range alternatives {
		if equalTerms(known, terms) {
			return alternatives
		}
	}
	return append(alternatives, terms)
}

func equalTerms(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
