package textindex

import (
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// maxRuleTerms is the service's limit on the number of terms in a rule.
const maxRuleTerms = 20

// Synonyms is a parsed synonym map before analysis. A nil *Synonyms has no rules. It is safe for concurrent use.
type Synonyms struct {
	lines []synonymLine
}

type synonymLine struct {
	from, to []string
	explicit bool // to replaces from; otherwise all terms of from are equivalent
}

// SynonymError is returned for an invalid rule of a synonym map.
type SynonymError struct {
	Line   int    // from 1
	Rule   string // the line
	Reason string // a complete sentence
}

func (e *SynonymError) Error() string {
	return fmt.Sprintf("Syntax error in line %d: '%s'. %s", e.Line, e.Rule, e.Reason)
}

// ParseSynonyms parses rules in the Solr format, one per line: "a, b, c" for equivalent terms, and "a, b => c" for
// terms to be replaced. It skips empty lines and lines that begin with #. A backslash makes the next character
// literal. It joins the rules of several maps in order. Its error is a *SynonymError.
func ParseSynonyms(maps ...string) (*Synonyms, error) {
	s := new(Synonyms)
	for _, text := range maps {
		for i, line := range strings.Split(text, "\n") {
			line = strings.TrimSpace(line)
			if strings.Trim(line, ", \t") == "" || line[0] == '#' { // recorded: a line of commas without terms is not an error
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

// Len returns the number of rules.
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

// synonymRules are rules analyzed by a field's analyzer, by the first term that they replace, longest first.
type synonymRules map[string][]synonymRule

type synonymRule struct {
	from []string
	to   [][]string // alternatives, each a sequence of terms
}

// rules analyzes the map. Rules for the same terms are combined. If analysis removes all output terms of a rule, the
// rule is left out, as in Lucene's lenient mode.
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

// match returns the rule with the most terms that matches at the beginning of terms.
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
