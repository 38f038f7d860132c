package figures

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestATargetThatIsMissedIsMarked(t *testing.T) {
	var all Table
	for _, v := range []float64{1, 3, 2} {
		all.Add("enough", AtLeast(2), v)
		all.Add("too much", AtMost(1.5), v)
		all.Add("whatever", Informs, v)
	}
	var out bytes.Buffer
	all.Write(&out, "name", "words")
	assert.Equal(t, `### name: words

| | target | got | range | |
|---|---|---|---|---|
| enough | ≥ 2 | 2 | 1–3 |  |
| too much | ≤ 1.5 | 2 | 1–3 | **missed** |
| whatever | – | 2 | 1–3 |  |

`, out.String())
}

func TestContestantsAreComparedByBars(t *testing.T) {
	var all Table
	for _, v := range []float64{100, 300, 200} {
		all.AddOf("ours", Figure{"a second", v})
		all.AddOf("theirs", Figure{"a second", v / 2})
	}
	var out bytes.Buffer
	all.Write(&out, "name", "words")
	assert.Equal(t, `### name: words

| | | median | range | |
|---|---|---|---|---|
| ours | a second | 200 | 100–300 | ████████████████████ |
| theirs | a second | 100 | 50–150 | ██████████ |

`, out.String())
}
