package models_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// kept is a type whose method keeps its receiver, as an audit log would.
type kept struct {
	ID string `json:"id"`
}

var keepers []*kept

func (k *kept) MarshalJSON() ([]byte, error) {
	keepers = append(keepers, k)
	k.ID += "!"
	return json.Marshal(map[string]string{"id": k.ID})
}

func TestAMethodMayKeepItsReceiver(t *testing.T) {
	type within struct {
		Inner [1]kept `json:"inner"`
	}
	docs := []kept{{"a"}, {"b"}}
	inner := within{[1]kept{{"c"}}}
	for name, write := range map[string]func() error{
		"by value": func() error {
			for _, d := range docs {
				if _, err := models.AppendAction(nil, models.ActionTypeUpload, d); err != nil {
					return err
				}
			}
			_, err := models.AppendAction(nil, models.ActionTypeUpload, inner)
			return err
		},
		"encoded in place": func() error {
			for i := range docs {
				if _, err := models.AppendActionFrom(nil, models.ActionTypeUpload, &docs[i]); err != nil {
					return err
				}
			}
			_, err := models.AppendActionFrom(nil, models.ActionTypeUpload, &inner)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			keepers = nil
			require.NoError(t, write())
			require.Len(t, keepers, 3)
			assert.Equal(t, []kept{{"a!"}, {"b!"}, {"c!"}}, []kept{*keepers[0], *keepers[1], *keepers[2]})
			assert.Equal(t, []kept{{"a"}, {"b"}}, docs, "the originals do not change")
			assert.Equal(t, "c", inner.Inner[0].ID)
		})
	}
}
