package query

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

func FuzzPassageOptions(f *testing.F) {
	for _, seed := range []string{"none", "extractive", "extractive|count-3,threshold-0.7", "extractive|highlight-true", "EXTRACTIVE|maxcharlength-5", "|", "extractive|,", "none|"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := &arguments{version: apiversion.Latest(), values: map[string]any{"answers": text, "captions": text}}
		answers, err := a.passages("answers", "InvalidAnswersOption", "count", "threshold")
		if err != nil {
			assert.Equal(t, 400, err.Status)
		} else if answers != nil {
			assert.True(t, answers.count >= 1 && answers.count <= mostAnswers, text)
			assert.True(t, answers.threshold >= 0 && answers.threshold <= 1, text)
			assert.GreaterOrEqual(t, answers.characters, 0)
			assert.False(t, answers.plain, "answers are always marked")
		}
		captions, err := a.passages("captions", "InvalidCaptionsOption", "highlight")
		if err == nil && captions != nil {
			assert.Equal(t, defaultAnswers, captions.count)
		}
	})
}
