package outbox

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// excused has the parts that a dialect may lack, with the reason.
var excused = map[string]map[string]string{
	"postgresql": {"insertRow": "lists of any number are as fast"},
	"sqlite": {
		"steer": "INDEXED BY and CROSS JOIN say what to do", "ring": "there is no vacuum to help", "faults": "AUTOINCREMENT needs no check",
		"notify": "a file wakes no process", "writers": "there is one at a time",
	},
}

// lackOf returns the missing parts of a dialect, and those that excused wrongly lists.
func lackOf(d *dialect) (lack []string) {
	v := reflect.ValueOf(d).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if _, can := excused[d.Name][name]; can != v.Field(i).IsZero() {
			lack = append(lack, name)
		}
	}
	return lack
}

func TestEachDialectHasEachPartOfAnOutboxOrSaysWhyItDoesWithout(t *testing.T) {
	for _, known := range sqlkit.All {
		d := dialects[Dialect(known.Name)]
		require.NotNil(t, d, "an outbox has no dialect %s: write dialect_%[1]s.go, and name it in dialects", known.Name)
		assert.Same(t, known, d.Dialect)
		assert.Empty(t, lackOf(d), "missing parts of the dialect %s: add them, or add a reason to excused", d.Name)
	}
	mysql := &dialect{Dialect: &sqlkit.Dialect{Name: "mysql"}, arm: `SELECT`}
	lack := lackOf(mysql)
	assert.Subset(t, lack, []string{"schema", "remove", "tidy", "last", "ensureTrigger"}, "a dialect that was begun")
	assert.NotContains(t, lack, "arm")
}
