//go:build !race

// Under the race detector sync.Pool drops objects at random, so these tests of allocations run without it.

package models_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestAppendActionAllocatesAtMostOnce(t *testing.T) {
	buf := make([]byte, 0, 1<<20)
	h := benchHotel()
	raw := json.RawMessage(`{"id":"1","text":"a \"b\"","list":[1.5,{"c":[null,true]}], "deep":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`)
	for name, c := range map[string]struct {
		append func() ([]byte, error)
		most   float64
	}{
		"struct":  {func() ([]byte, error) { return models.AppendAction(buf, models.ActionTypeUpload, h) }, 1},
		"pointer": {func() ([]byte, error) { return models.AppendAction(buf, models.ActionTypeUpload, &h) }, 0},
		"raw":     {func() ([]byte, error) { return models.AppendAction(buf, models.ActionTypeUpload, raw) }, 0},
		"encoded": {func() ([]byte, error) { return models.AppendEncoded(buf, models.ActionTypeUpload, raw) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := testing.AllocsPerRun(500, func() {
				if _, err := c.append(); err != nil {
					t.Fatal(err)
				}
			})
			require.LessOrEqual(t, n, c.most)
		})
	}
}

func TestReadingTheKeyOfAStructDoesNotAllocate(t *testing.T) {
	k, err := models.KeyFieldOf[hotel]()
	require.NoError(t, err)
	p, err := models.KeyFieldOf[*hotel]()
	require.NoError(t, err)
	h := benchHotel()
	require.Zero(t, testing.AllocsPerRun(500, func() {
		if got, err := k.Get(h); err != nil || got != h.ID {
			t.Fatal(got, err)
		}
		if got, err := p.Get(&h); err != nil || got != h.ID {
			t.Fatal(got, err)
		}
	}))
}
