package archtest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCodeInPackageCommentsCompiles(t *testing.T) {
	u := used(t)
	broken, err := u.CheckDocCode(os.DirFS(root))
	require.NoError(t, err)
	for _, line := range broken {
		t.Error(line)
	}
}

func TestCodeThatDoesNotCompileIsFound(t *testing.T) {
	u := used(t)
	const comment = "Text.\n\n\to := retry.Options{Tries: 3}\n\nText.\n\n" +
		"\terr := keys.Validate(1)\n\tif err != nil { … }\n\n\t…\n\n\tclient.Do(ctx, retry.Options{MaxRetries: 3})\n\n" +
		"Text.\n\n\tfunc f() { _ = retry.Nothing }\n\nText.\n\n\ta  table\n\nText.\n\n\terr := keys.\n"
	var problems []string
	for _, block := range codeBlocks(comment) {
		problems = append(problems, u.checkBlock(block)...)
	}
	require.Len(t, problems, 4)
	assert.Equal(t, []string{
		"unknown field Tries in struct literal of type retry.Options",
		"cannot use 1 (untyped int constant) as string value in argument to keys.Validate",
		"undefined: retry.Nothing",
	}, problems[:3])
	assert.Contains(t, problems[3], "expected selector", "code that cannot be parsed")
}
