package analysis

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// builtIn has the components of an index without custom ones.
var builtIn = func() *Components {
	c, err := New(Definition{})
	if err != nil {
		panic(err)
	}
	return c
}()

// show formats tokens as term@position.
func show(tokens []Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s@%d", t.Text, t.Position)
	}
	return b.String()
}

// showAll formats tokens as term@position[start-end].
func showAll(tokens []Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s@%d[%d-%d]", t.Text, t.Position, t.Start, t.End)
	}
	return b.String()
}

func analyzer(t testing.TB, name string) Analyzer {
	t.Helper()
	a, err := builtIn.Analyzer(name)
	require.NoError(t, err)
	return a
}

// one is a component of a definition; members are JSON members without braces.
func one(typeName, members string) []json.RawMessage {
	if members != "" {
		members = "," + members
	}
	return []json.RawMessage{json.RawMessage(`{"@odata.type":"` + typePrefix + typeName + `","name":"x"` + members + `}`)}
}

// with returns the chain of a tokenizer and one custom token filter.
func with(t testing.TB, tokenizer, filterType, members string) Analyzer {
	t.Helper()
	c, err := New(Definition{TokenFilters: one(filterType, members)})
	require.NoError(t, err)
	a, err := c.Chain(tokenizer, []string{"x"}, nil)
	require.NoError(t, err)
	return a
}

// chained returns the chain of the service's components with these names.
func chained(t testing.TB, tokenizer string, filters ...string) Analyzer {
	t.Helper()
	a, err := builtIn.Chain(tokenizer, filters, nil)
	require.NoError(t, err)
	return a
}
