package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/internal/wire"
)

func TestSecretsAreWhatRedactHides(t *testing.T) {
	const definition = `{"name":"n","credentials":{"connectionString":"AccountName=a;AccountKey=k3y\u002bx==;EndpointSuffix=s"},
		"skills":[{"uri":"https://f.example/api?code=c0de","httpHeaders":{"X":"he\"ader","n":5}},{"apiKey":"apik"}],
		"knowledgeStore":{"storageConnectionString":""},"note":"https://user:pass@host/x?sig=s1g&a=b","tags":["a","b"]}`
	got := wire.Secrets([]byte(definition))
	assert.ElementsMatch(t, []string{
		"AccountName=a;AccountKey=k3y+x==;EndpointSuffix=s", "k3y+x==", "https://f.example/api?code=c0de", "c0de", `he"ader`, "5", "apik", "",
		"https://user:pass@host/x?sig=s1g&a=b", "user:pass", "pass", "s1g",
	}, got)
	shown := string(wire.Redact([]byte(definition)))
	for _, s := range got {
		if s != "" {
			assert.NotContains(t, shown, s)
		}
	}
}

// A service may quote a secret without what surrounds it in the definition.
func TestSecretsAreAlsoWhatAServiceQuotesOfThem(t *testing.T) {
	for definition, want := range map[string][]string{
		`{"a":"Server=s;Password=\"p;w'1\";x=y"}`:        {`p;w'1`},
		`{"a":"mongodb://user:p%40ss'w@host/db"}`:        {"p%40ss'w", "p@ss'w"},
		`{"a":"https://user:pa/ss@word@host/"}`:          {"pa/ss@word"},
		`{"a":" https://host/x?Api-Key=value1&top=10 "}`: {"value1"},
		`{"a":"{\"clientSecret\":\"value2\"}"}`:          {"value2"},
		`{"password":1234567,"secrets":["value3"]}`:      {"1234567", "value3"},
	} {
		got := wire.Secrets([]byte(definition))
		assert.Subset(t, got, want, definition)
		assert.NotContains(t, got, "10", definition)
	}
}
