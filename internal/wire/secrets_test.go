package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/wire"
)

func TestRedactHidesSecretsAndNothingElse(t *testing.T) {
	for in, want := range map[string]string{
		`{"key":true,"name":"id"}`:                             `{"key":true,"name":"id"}`,
		`{"key":"k","apiKey":null,"connectionString":""}`:      `{"key":"***","apiKey":null,"connectionString":""}`,
		`{"httpHeaders":{"a":"b","c":["d",1]},"x":[ "y" , 2]}`: `{"httpHeaders":{"a":"***","c":["***","***"]},"x":["y",2]}`,
		`{"uri":"https://host:1/a?code=k"}`:                    `{"uri":"https://host:1/***"}`,
		`{"uri":"https://user:pass@host/"}`:                    `{"uri":"https://host/***"}`,
		`{"uri":"https://host"}`:                               `{"uri":"https://host"}`,
		`{"uri":"nonsense"}`:                                   `{"uri":"***"}`,
		`{"apiKey":{"value":"k"},"URI":"https://h/?k","HTTPHeaders":{"a":7,"b":true},"Key":"k"}`: `{"apiKey":{"value":"***"},"URI":"https://h/***","HTTPHeaders":{"a":"***","b":true},"Key":"***"}`,
		`{"serverURL":"https://h/?k","authorization":"b"}`:                                       `{"serverURL":"https://h/***","authorization":"***"}`,
		`[]`: `[]`, `{}`: `{}`, `null`: `null`, `"key"`: `"key"`,
	} {
		assert.Equal(t, want, string(wire.Redact([]byte(in))))
	}
}

func FuzzRedact(f *testing.F) {
	f.Add([]byte(`{"a":[{"apiKey":"k"},[],{}],"uri":"https://h/é\u0022"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		out := wire.Redact(b)
		if json.Valid(b) {
			require.True(t, json.Valid(out), "%s", out)
		}
	})
}
