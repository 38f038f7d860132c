package apply

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/models"
)

// simple returns indexes and aliases: "hotels-1 Int32" is an index, "hotels=hotels-1" an alias.
func simple(lines ...string) (s definitions.Set) {
	for _, line := range lines {
		if alias, index, is := strings.Cut(line, "="); is {
			s = append(s, definitions.Definition{Kind: definitions.Aliases, Name: alias, JSON: []byte(`{"name":"` + alias + `","indexes":["` + index + `"]}`)})
			continue
		}
		name, typ, _ := strings.Cut(line, " ")
		s = append(s, definitions.Definition{Kind: definitions.Indexes, Name: name, JSON: []byte(`{"name":"` + name + `","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"n","type":"Edm.` + typ + `"}]}`)})
	}
	return s
}

// summary has a word for each step: what it does with which index.
func summary(p *Plan) (all []string) {
	for _, s := range p.Steps {
		switch r := s.Rebuild; {
		case r != nil && r.Exists:
			all = append(all, r.From+"+"+r.To)
		case r != nil:
			all = append(all, r.From+">"+r.To)
		default:
			all = append(all, string(s.Cost())+" "+s.Name)
		}
	}
	return all
}

func TestFileOfARebuiltIndexDefinesItsSuccessor(t *testing.T) {
	for name, c := range map[string]struct {
		files, live definitions.Set
		want        []string
	}{
		"another type":                     {simple("h-1 Double", "h=h-1"), simple("h-1 Int32", "h=h-1"), []string{"h-1>h-2"}},
		"without a number":                 {simple("h Double", "a=h"), simple("h Int32", "a=h"), []string{"h>h-2"}},
		"the file alone":                   {simple("h-1 Double"), simple("h-1 Int32", "h=h-1"), []string{"h-1>h-2"}},
		"no alias":                         {simple("h-1 Double"), simple("h-1 Int32"), []string{"needs a rebuild h-1"}},
		"an alias beside it":               {simple("h-1 Double", "h=h-1"), simple("h-1 Int32"), []string{"in place h", "h-1>h-2"}},
		"an alias that moves to it":        {simple("h-1 Double", "h=h-1"), simple("h-1 Int32", "h-9 Int32", "h=h-9"), []string{"h-9>h-10"}},
		"two aliases":                      {simple("h-1 Double"), simple("h-1 Int32", "h=h-1", "g=h-1"), []string{"needs a rebuild h-1"}},
		"left by a kill":                   {simple("h-1 Double", "h=h-1"), simple("h-1 Int32", "h-2 Double", "h=h-1"), []string{"h-1+h-2"}},
		"not left by a kill":               {simple("h-1 Double", "h=h-1"), simple("h-1 Int32", "h-2 Int64", "h=h-1"), []string{"h-1>h-3"}},
		"that of another alias":            {simple("h-1 Double", "h=h-1"), simple("h-1 Int32", "h-2 Double", "h=h-1", "g=h-2"), []string{"h-1>h-3"}},
		"rebuilt, and another alias":       {simple("h-1 Double", "h=h-1"), simple("h-1 Int32", "h-2 Double", "h-3 Int32", "h=h-2", "g=h-3"), nil},
		"that of a file":                   {simple("h-1 Double", "h-2 Double", "h=h-1"), simple("h-1 Int32", "h-2 Double", "h=h-1"), []string{"h-1>h-3"}},
		"rebuilt":                          {simple("h-1 Double", "h=h-1"), simple("h-1 Int32", "h-2 Double", "h=h-2"), nil},
		"rebuilt, the old one is gone":     {simple("h-1 Double", "h=h-1"), simple("h-2 Double", "h=h-2"), nil},
		"rebuilt, the file alone":          {simple("h-1 Double"), simple("h-1 Int32", "h-2 Double", "h=h-2"), nil},
		"rebuilt twice":                    {simple("h-1 Int64", "h=h-1"), simple("h-1 Int32", "h-2 Double", "h-3 Int64", "h=h-3"), nil},
		"rebuilt and changed again":        {simple("h-1 Int64", "h=h-1"), simple("h-1 Int32", "h-2 Double", "h=h-2"), []string{"h-2>h-3"}},
		"the way back to the old index":    {simple("h-1 Int32", "h=h-1"), simple("h-1 Int32", "h-2 Double", "h=h-2"), []string{"h-2+h-1"}},
		"pulled since":                     {simple("h-1 Int32", "h-2 Double", "h=h-2"), simple("h-1 Int32", "h-2 Double", "h=h-2"), nil},
		"pulled, and the alias goes back":  {simple("h-1 Int32", "h-2 Double", "h=h-1"), simple("h-1 Int32", "h-2 Double", "h=h-2"), []string{"h-2+h-1"}},
		"pulled, and rebuilt twice":        {simple("h-1 Int32", "h-2 Int64", "h=h-2"), simple("h-1 Int32", "h-2 Double", "h-3 Int64", "h=h-3"), nil},
		"an alias of other readers":        {simple("h-1 Double", "h=g-1"), simple("h-1 Int32", "g-1 Int32", "h-2 Double", "h=h-2"), []string{"needs a rebuild h-1", "h-2+g-1"}},
		"two aliases that move":            {simple("h-2 Double", "a=h-2", "b=h-2"), simple("h-1 Int32", "a=h-1", "b=h-1"), []string{"in place h-2", "h-1>h-2", "in place b"}},
		"two, to an index that exists":     {simple("a=h-2", "b=h-2"), simple("h-1 Int32", "h-2 Double", "a=h-1", "b=h-1"), []string{"h-1+h-2", "in place b"}},
		"two, from other indexes":          {simple("h-3 Double", "a=h-3", "b=h-3"), simple("h-1 Int32", "h-2 Int32", "a=h-1", "b=h-2"), []string{"in place h-3", "h-1>h-3", "refused b"}},
		"an alias that is new":             {simple("h-2 Double", "a=h-2", "b=h-2"), simple("h-1 Int32", "b=h-1"), []string{"in place h-2", "h-1>h-2", "in place a"}},
		"two indexes of one name":          {simple("h Double", "h-1 Double"), simple("h Int32", "h-1 Int32", "a=h", "b=h-1"), []string{"h>h-2", "h-1>h-3"}},
		"left, and named by a file":        {simple("h-1 Double", "a=h-2", "b=h-1"), simple("h-1 Int32", "h-2 Double", "a=h-3", "h-3 Int32", "b=h-1"), []string{"h-3+h-2", "h-1>h-4"}},
		"a successor by hand, in the file": {simple("h-1 Int32", "h-2 Double", "h=h-2"), simple("h-1 Int32", "h=h-1"), []string{"in place h-2", "h-1>h-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New(c.files, c.live, environment, Options{Fill: func(context.Context, *Rebuilding, models.SearchIndex) error { return nil }})
			require.NoError(t, err)
			assert.Equal(t, c.want, summary(p))
		})
	}
}
