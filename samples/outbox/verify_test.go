package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestWhatIsWrongWithAnIndexIsNoticed(t *testing.T) {
	one := Booking{"a", "Forres", 1, 2, "Ross"}
	const same, other = `{"id":"a","hotel":"Forres","room":1,"night":2,"guest":"Ross"}`, `{"id":"a","hotel":"Forres","room":1,"night":2,"guest":"Lennox"}`
	for name, c := range map[string]struct {
		table map[string]Booking
		index map[string]string
		wrong bool
	}{
		"both are empty":            {nil, nil, false},
		"they are equal":            {map[string]Booking{"a": one}, map[string]string{"a": same}, false},
		"a field is older":          {map[string]Booking{"a": one}, map[string]string{"a": other}, true},
		"a document is missing":     {map[string]Booking{"a": one}, nil, true},
		"a document is left":        {nil, map[string]string{"a": same}, true},
		"a document cannot be read": {map[string]Booking{"a": one}, map[string]string{"a": "{"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			index := make(map[string]json.RawMessage)
			for key, text := range c.index {
				index[key] = json.RawMessage(text)
			}
			if problems := compare(c.table, index); c.wrong {
				assert.Len(t, problems, 1)
			} else {
				assert.Empty(t, problems)
			}
		})
	}
}

func TestGuestOfARollbackIsNoticedInAnyRequest(t *testing.T) {
	changes := []searchtest.Change{{Key: "a"}, {Key: "b", Document: []byte(`{"guest":"Macbeth"}`)}, {Key: "c", Document: []byte(`{"guest":"` + ghost + ` 7"}`)}}
	assert.Len(t, haunted(changes), 1)
	assert.Empty(t, haunted(changes[:2]))
}

func TestLongListsAreCut(t *testing.T) {
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprint(i))
	}
	assert.Equal(t, "0; 1", shorten(many[:2]))
	assert.Equal(t, "0; 1; 2; 3; 4; 5; 6; 7; 8; 9; …", shorten(many))
}
