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
		"AccountName=a;AccountKey=k3y+x==;EndpointSuffix=s", "k3y+x==", "https://f.example/api?code=c0de", "c0de", `he"ader`, "apik", "",
		"https://user:pass@host/x?sig=s1g&a=b", "user:pass", "s1g",
	}, got)
	shown := string(wire.Redact([]byte(definition)))
	for _, s := range got {
		if s != "" {
			assert.NotContains(t, shown, s)
		}
	}
}
