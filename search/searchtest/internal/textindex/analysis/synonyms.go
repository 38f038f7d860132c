package analysis

import (
	"errors"
	"fmt"
	"strings"
)

// synonymFilter has the parameters of a SynonymTokenFilter: rules in the format of Apache Solr.
type synonymFilter struct {
	Synonyms   []string `json:"synonyms"`
	IgnoreCase bool     `json:"ignoreCase"`
	Expand     bool     `json:"expand"`
}

// synonyms replaces groups of words, or adds others to them. The longest group wins. Output is not matched again.
type synonyms struct {
	root       *synonymNode
	ignoreCase bool
}

// synonymNode is a node in a trie of groups, one word per edge.
type synonymNode struct {
	next    map[string]*synonymNode
	outputs [][]string // nil if no group ends here
	keep    bool       // the matched words stay in addition to the outputs
}

func (p *synonymFilter) filters() ([]filter, error) {
	if p.Synonyms == nil {
		return nil, errors.New("synonyms is missing")
	}
	f := &synonyms{&synonymNode{}, p.IgnoreCase}
	for _, rule := range p.Synonyms {
		rule = strings.TrimSpace(rule)
		if rule == "" || rule[0] == '#' {
			continue
		}
		if err := f.add(rule, p.Expand); err != nil {
			return nil, err
		}
	}
	return []filter{f}, nil
}

// add adds the groups of one rule.
func (f *synonyms) add(rule string, expand bool) error {
	sides := splitEscaped(rule, "=>")
	if len(sides) > 2 {
		return fmt.Errorf("the synonym rule '%s' has more than one =>", rule)
	}
	inputs, err := f.groups(rule, sides[0])
	if err != nil {
		return err
	}
	if len(sides) == 2 {
		outputs, err := f.groups(rule, sides[1])
		if err != nil {
			return err
		}
		for _, in := range inputs {
			for _, out := range outputs {
				f.put(in, out, false)
			}
		}
		return nil
	}
	for i, in := range inputs {
		if !expand {
			f.put(in, inputs[0], false)
			continue
		}
		for j, out := range inputs {
			if i != j {
				f.put(in, out, true)
			}
		}
	}
	return nil
}

// groups returns the comma-separated alternatives of one side, each as a list of words.
func (f *synonyms) groups(rule, side string) ([][]string, error) {
	var out [][]string
	for _, alternative := range splitEscaped(side, ",") {
		words := strings.Fields(unescape(alternative))
		if len(words) == 0 {
			return nil, fmt.Errorf("the synonym rule '%s' has an empty side", rule)
		}
		if f.ignoreCase {
			for i := range words {
				words[i] = lower(words[i])
			}
		}
		out = append(out, words)
	}
	return out, nil
}

func (f *synonyms) put(in, out []string, keep bool) {
	n := f.root
	for _, w := range in {
		child := n.next[w]
		if child == nil {
			child = &synonymNode{}
			if n.next == nil {
				n.next = map[string]*synonymNode{}
			}
			n.next[w] = child
		}
		n = child
	}
	n.keep = n.keep || keep
	for _, o := range n.outputs {
		if strings.Join(o, " ") == strings.Join(out, " ") {
			return
		}
	}
	n.outputs = append(n.outputs, out)
}

func (f *synonyms) filter(s *stream) {
	var out []token
	shift := 0 // number of positions by which shorter outputs move later words forward
	for i := 0; i < len(s.tokens); {
		n, length := f.match(s.tokens[i:])
		if n == nil {
			length = 1
		}
		matched := s.tokens[i : i+length]
		for j := range matched {
			matched[j].pos -= shift
		}
		i += length
		if n == nil {
			out = append(out, matched...)
			continue
		}
		out = append(out, n.apply(matched)...)
		shift += max(0, matched[length-1].pos-matched[0].pos+1-n.longest())
	}
	sortByPosition(out)
	s.tokens = out
	s.next -= shift
}

// longest returns the maximum length of the outputs in words; for kept words the largest int32, so that nothing
// moves.
func (n *synonymNode) longest() int {
	if n.keep {
		return 1<<31 - 1
	}
	most := 0
	for _, words := range n.outputs {
		most = max(most, len(words))
	}
	return most
}

// match returns the longest group at the beginning of tokens, and its length.
func (f *synonyms) match(tokens []token) (found *synonymNode, length int) {
	n := f.root
	for i := range tokens {
		w := tokens[i].text
		if f.ignoreCase {
			w = lower(w)
		}
		if n = n.next[w]; n == nil {
			break
		}
		if n.outputs != nil {
			found, length = n, i+1
		}
	}
	return found, length
}

// apply returns the outputs, and the matched tokens if they stay. The words of each output follow one another from
// the position of the first matched token.
func (n *synonymNode) apply(matched []token) []token {
	var out []token
	if n.keep {
		out = append(out, matched...)
	}
	first, end := matched[0], matched[len(matched)-1].end
	for _, words := range n.outputs {
		for i, w := range words {
			t := token{text: w, start: first.start, end: end, pos: first.pos + i}
			if n.keep && len(words) == 1 {
				t.end = first.end
			}
			out = append(out, t)
		}
	}
	return out
}

// sortByPosition sorts nearly sorted tokens by position; it is stable.
func sortByPosition(tokens []token) {
	for i := 1; i < len(tokens); i++ {
		for j := i; j > 0 && tokens[j].pos < tokens[j-1].pos; j-- {
			tokens[j], tokens[j-1] = tokens[j-1], tokens[j]
		}
	}
}

// splitEscaped splits at every separator that does not follow a backslash.
func splitEscaped(text, separator string) []string {
	var out []string
	start := 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], separator):
			out = append(out, text[start:i])
			i += len(separator) - 1
			start = i + 1
		}
	}
	return append(out, text[start:])
}

func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
