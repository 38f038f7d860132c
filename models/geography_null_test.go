package models_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestAPointWithoutCoordinatesIsNotTheGulfOfGuinea(t *testing.T) {
	for _, coordinates := range []string{"[null,null]", "[1,null]", "[null,1]"} {
		var p models.GeographyPoint
		require.ErrorIs(t, json.Unmarshal([]byte(`{"type":"Point","coordinates":`+coordinates+`}`), &p), models.ErrNotAPoint)
	}
}
