package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestOnlyTheDeletedIndexLosesDocuments(t *testing.T) {
	testkit.Long(t)
	o := stagetest.Succeeds(t, program, []string{"-for", "4s"}, "39 of 40 indexes have lost nothing")
	assert.Empty(t, o.Err)
	assert.Regexp(t, `(?m)^"coupons" has lost [1-9]\d* of \d+ accepted documents:$`, o.Out)
	assert.Regexp(t, `(?m)^\d+ documents were accepted; each has one outcome`, o.Out)
}

func TestWhatIsWrongWithAnIndexIsNoticed(t *testing.T) {
	completed, failed := models.Outcome{}, models.Outcome{Reason: models.ReasonClosed, Err: errors.New("closed")}
	note := func(version int64, accepted bool, outcomes ...models.Outcome) *write {
		return &write{item: Item{ID: "a", Version: version}, accepted: accepted, outcomes: outcomes}
	}
	for name, c := range map[string]struct {
		writes  []*write
		index   map[string]Item
		deleted bool
		wrong   bool
	}{
		"the last version is there":            {[]*write{note(1, true, completed), note(2, true, completed)}, map[string]Item{"a": {ID: "a", Version: 2}}, false, false},
		"an older version is there":            {[]*write{note(1, true, completed), note(2, true, completed)}, map[string]Item{"a": {ID: "a", Version: 1}}, false, true},
		"a document is missing":                {[]*write{note(1, true, completed)}, nil, false, true},
		"a document is there and failed":       {[]*write{note(1, true, failed)}, map[string]Item{"a": {ID: "a", Version: 1}}, true, true},
		"a document was lost":                  {[]*write{note(1, true, failed)}, nil, false, true},
		"the document was lost with its index": {[]*write{note(1, true, failed)}, nil, true, false},
		"an outcome is missing":                {[]*write{note(1, true)}, nil, true, true},
		"an outcome came twice":                {[]*write{note(1, true, completed, completed)}, map[string]Item{"a": {ID: "a", Version: 1}}, false, true},
		"an outcome is of nothing added":       {[]*write{note(1, false, failed)}, nil, true, true},
		"nothing was written to an index":      {nil, nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			if problems := compare("hotels", c.writes, c.index, c.deleted); c.wrong {
				assert.NotEmpty(t, problems)
			} else {
				assert.Empty(t, problems)
			}
		})
	}
}
