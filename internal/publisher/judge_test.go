package publisher

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFateOfAnItem(t *testing.T) {
	for name, c := range map[string]struct {
		met            met
		spent, ofIndex bool // replies of the callbacks
		want           fate
	}{
		"the item is applied":                              {met: met{next: Complete}, spent: true, want: fateApplied},
		"the item is applied while all others are refused": {met: met{next: Complete, refuses: true, unpaid: true}, want: fateApplied},
		"the item was not sent":                            {met: met{next: Requeue, free: true}, spent: true, want: fateFree},
		"the service refuses everything":                   {met: met{next: Fail, refuses: true, alone: true}, spent: true, want: fateHeld},
		"refused among others":                             {met: met{next: Fail}, ofIndex: true, want: fateRefused},
		"refused alone, and the index is to blame":         {met: met{next: Fail, alone: true}, ofIndex: true, want: fateFree},
		"refused alone, and the document is":               {met: met{next: Fail, alone: true}, want: fateRefused},
		"the service is down":                              {met: met{next: Requeue, unpaid: true}, spent: true, want: fateHeld},
		"the service is down, for it alone":                {met: met{next: Requeue, unpaid: true, alone: true}, want: fateHeld},
		"other items are applied, this one is not":         {met: met{next: Requeue, unpaid: true, alone: true}, spent: true, want: fateExhausted},
		"sent again as an upload":                          {met: met{next: Requeue, body: true}, spent: true, want: fateRewritten},
		"a conflict too often":                             {met: met{next: Requeue}, spent: true, want: fateExhausted},
		"a conflict too often, but Close settles it":       {met: met{next: Requeue, closing: true}, spent: true, want: fateLater},
		"a conflict": {met: met{next: Requeue}, want: fateLater},
	} {
		asked := map[string]int{}
		c.met.spent = func() bool { asked["spent"]++; return c.spent }
		c.met.ofIndex = func() bool { asked["ofIndex"]++; return c.ofIndex }
		assert.Equal(t, c.want, c.met.fate(), name)
		assert.LessOrEqual(t, max(asked["spent"], asked["ofIndex"]), 1, name)
	}
}

func TestPlanForARequestThatFailedAsAWhole(t *testing.T) {
	for name, c := range map[string]struct {
		company company
		want    plan
	}{
		"a first failure":                                {company{items: 10, gated: true, attempts: 4}, planAsItIs},
		"a repeated failure, and nothing passes":         {company{items: 10, failed: 10, gated: true, attempts: 4}, planFirst},
		"a repeated failure, and another request passed": {company{items: 10, failed: 10, suspects: 5, gated: true, attempts: 4}, planPieces},
		"a failure of a batch that is mostly new":        {company{items: 10, failed: 4, suspects: 4, gated: true, attempts: 4}, planAsItIs},
		"a failure while the gate is shut":               {company{items: 10, failed: 10, gated: true, shut: true, attempts: 1}, planLoose},
		"a failure without retries":                      {company{items: 10, suspects: 10, gated: true, attempts: 1}, planAlone},
		"without a gate":                                 {company{items: 10, attempts: 4}, planAlone},
		"without a gate, before the last attempt":        {company{items: 10, attempts: 4, used: 2}, planProbe},
		"without a gate, and another request passed":     {company{items: 10, suspects: 10, attempts: 4}, planPieces},
	} {
		assert.Equal(t, c.want, c.company.plan(), name)
	}
}
