package analysis

import "strings"

// normalizer is a chain whose tokenizer keeps the value whole.
type normalizer struct {
	chain *chain
}

func (n normalizer) Normalize(value string) string {
	tokens := n.chain.Analyze(value)
	switch len(tokens) {
	case 0:
		return ""
	case 1:
		return tokens[0].Text
	}
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.Text)
	}
	return b.String()
}

// customNormalizer has the parameters of a CustomNormalizer.
type customNormalizer struct {
	TokenFilters []string `json:"tokenFilters"`
	CharFilters  []string `json:"charFilters"`
}

func (p *customNormalizer) chain(c *Components) (*chain, error) {
	out, err := c.chain("keyword_v2", p.TokenFilters, p.CharFilters)
	if err != nil {
		return nil, err
	}
	out.tokenizer = wholeTokenizer{}
	return out, nil
}

var normalizerTypes = map[string]func() analyzerSpec{
	"CustomNormalizer": func() analyzerSpec { return &customNormalizer{} },
}

var builtInNormalizers = map[string]analyzerSpec{
	"asciifolding": &customNormalizer{TokenFilters: []string{"asciifolding"}},
	"elision":      &customNormalizer{TokenFilters: []string{"elision"}},
	"lowercase":    &customNormalizer{TokenFilters: []string{"lowercase"}},
	"standard":     &customNormalizer{TokenFilters: []string{"lowercase", "asciifolding"}},
	"uppercase":    &customNormalizer{TokenFilters: []string{"uppercase"}},
}
