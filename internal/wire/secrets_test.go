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
		// Values that are URLs, and keys within text.
		`{"resourceUri":"https://u:p@h/a?b=c","x":["rediss://h/0#f"],"y":"https://h/a"}`:       `{"resourceUri":"https://***@h/a?***","x":["rediss://h/0?***"],"y":"https://h/a"}`,
		`{"query":"https://u:p/w@h/","q":"https://h/\u003fcode=k\u0026a"}`:                     `{"query":"https://***","q":"https://h/?***"}`,
		`{"a":"x;AccountKey=a==;y","b":"see https://u:p@h/x?a=b&sig=k&c=d now","c":"pwd = k"}`: `{"a":"x;AccountKey=***;y","b":"see https://***@h/x?a=b&sig=***&c=d now","c":"pwd = ***"}`,
		`{"a":"postcode=7","b":"x?codec=1","c":"#Microsoft.Skills.Text"}`:                      `{"a":"postcode=7","b":"x?codec=1","c":"#Microsoft.Skills.Text"}`,
		`{"credentials":{"a":["b",1,{"c":"d"}],"e":true},"headers":"h"}`:                       `{"credentials":{"a":["***","***",{"c":"***"}],"e":true},"headers":"***"}`,
		`{"token":"hotel","startOffset":0}`:                                                    `{"token":"hotel","startOffset":0}`,
		`{"accessCredentials":{"applicationId":"a","applicationSecret":"s"}}`:                  `{"accessCredentials":{"applicationId":"a","applicationSecret":"***"}}`,
		`{"@odata.context":"https://h/$metadata#a"}`:                                           `{"@odata.context":"https://h/$metadata#a"}`,
		// Connection strings with quotes, apostrophes, and other names.
		`{"a":"Server=s;Password=\"p;w\";Database=d","b":"Password='p;w';x=y","c":"Pwd=it's \"it;x=y"}`:    `{"a":"Server=s;Password=***;Database=d","b":"Password=***;x=y","c":"Pwd=***;x=y"}`,
		`{"a":"ApiKey=k;x=y","b":"ClientSecret=k","c":"Account Key=k;a=b","d":"AwsSecretAccessKey=k;a=b"}`: `{"a":"ApiKey=***;x=y","b":"ClientSecret=***","c":"Account Key=***;a=b","d":"AwsSecretAccessKey=***;a=b"}`,
		`{"a":"sig=k&b=c","b":"x?api-key=k","c":"mongodb://u:it's@h/","d":" https://h/a?b=c"}`:             `{"a":"sig=***&b=c","b":"x?api-key=***","c":"mongodb://***@h/","d":"https://h/a?***"}`,
		// Numbers, lists, and JSON in text.
		`{"password":12345,"key":7,"top":7,"secrets":["a",{"b":"c"}]}`:                                             `{"password":"***","key":"***","top":7,"secrets":["***",{"b":"***"}]}`,
		`{"requestHeaders":{"a":"b"},"additionalHeaders":[{"name":"a","value":"b"}],"delimitedTextHeaders":"a,b"}`: `{"requestHeaders":{"a":"***"},"additionalHeaders":[{"name":"***","value":"***"}],"delimitedTextHeaders":"a,b"}`,
		`{"body":"{\"apiKey\":\"k\",\"a\":1}","b":"{not JSON"}`:                                                    `{"body":"{\"apiKey\":\"***\",\"a\":1}","b":"{not JSON"}`,
		`{"token":"t","tokens":[{"token":"hotel","startOffset":0}]}`:                                               `{"token":"***","tokens":[{"token":"hotel","startOffset":0}]}`,
		`[]`: `[]`, `{}`: `{}`, `null`: `null`, `"key"`: `"key"`,
	} {
		assert.Equal(t, want, string(wire.Redact([]byte(in))))
	}
}

func TestNamesOfSecretsAreWholeWords(t *testing.T) {
	for _, name := range []string{
		"token", "TOKEN", "idToken", "id_token", "sas", "blobSas", "pwd", "passphrase", "privateKey", "PRIVATE_KEY", "authenticationKey",
		"credential", "credentials", "bearer", "x-functions-key", "ocp-apim-subscription-key", "headers", "api-key", "account_key", "clientSecret",
		"secretKey", "primaryKey", "storage.key", "Account Key", "apiKeys", "PASSWORDS", "http-headers", "sharedAccessSignature",
	} {
		assert.True(t, wire.Secret(name), name)
	}
	for _, name := range []string{
		"", "tokenizer", "tokenFilters", "tokens", "maxTokens", "maxTokenLength", "certificateName", "canvas", "keyPhrases", "keyVaultKeyName",
		"partitionKey", "credentialName", "secretary", "bearerType", "filterToken", "accessCredentials", "keywords", "monkey", "documentKey",
		"documentKeys", "resetDocumentKeys", "firstLineContainsHeaders", "delimitedTextHeaders", "maxOutputTokens",
	} {
		assert.False(t, wire.Secret(name), name)
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
