package jsontext

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTextThatDecodingWouldChangeIsAnError(t *testing.T) {
	for text, why := range map[string]string{
		"{\"a\":\"caf\xe9\"}":                            "not UTF-8, from byte 10",
		`{"a":["x\ud800"]}`:                              `half of a character: \ud800`,
		`{"a":"\udc00\ud800"}`:                           `half of a character: \udc00`,
		`{"a":1,"b":[],"a":2}`:                           `two values of "a"`,
		`{"b":[{"c":"}","a":{}}, {"x":0,"\u0078" : 1}]}`: `two values of "x"`,

		`{"a":"é\ud83d\ude00\\ud800\n","b":{"a":"a"},"c":[{"a":1},{"a":1}]}`: "",
		`["a","a",{"a":"a"}]`: "",
		`"a"`:                 "",
	} {
		err := Lossless([]byte(text))
		if why == "" {
			assert.NoError(t, err, text)
			continue
		}
		assert.ErrorContains(t, err, why, text)
		assert.True(t, json.Valid([]byte(text)), text)
	}
	for _, broken := range []string{"", "]", `{"a`, `"\`, `{"a":1}}`, `"a":1,"a":2`, `\`, `{"a":"\`} {
		assert.NotPanics(t, func() { _ = Lossless([]byte(broken)) }, broken)
	}
}
