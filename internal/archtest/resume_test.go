package archtest

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// resumed has the stored states that a later run resumes from. The named test, in its folder or another one, shows
// that a state of another source or destination is refused or skipped.
var resumed = map[string]string{
	"bufferedsender/deadletter/file.go":        "TestReplayLeavesTheLettersOfOtherIndexesAlone",
	"bufferedsender/queue/filequeue/log.go":    "TestTheQueueOfAnotherIndexIsRefused",
	"bufferedsender/queue/redisqueue/queue.go": "TestQueueKeepsWhatItWasMadeWith",
	"bufferedsender/repair/state.go":           "TestAStateOfAnotherSourceOrIndexIsRefused TestAStateKnowsItsSource",
	"search/rebuild/record.go":                 "TestARecordOfAnotherServiceIsRefused TestARebuildGoesOnWithItsOwnDefinitionOnly",
	"cmd/azsearch/internal/backup/manifest.go": "TestDirectoryIsRefusedThatCannotBeContinued",
	"cmd/azsearch/internal/backup/restore.go":  "TestRestoreContinuesBehindWhatIsThere",
	"cmd/azsearch/internal/ledger/ledger.go":   "TestPartOfALineIsAPartThatIsDoneAgain",
	"cmd/azsearch/internal/load/checkpoint.go": "TestInterruptionEndsHonestlyAndResumeGoesOn",
	"samples/checkpointing/loader.go":          "TestACheckpointIsOfOneFileAndOneIndex",
}

// notResumed has the other files of code that write files, with the reason why they store no position.
var notResumed = map[string]string{
	"bufferedsender/hints/hints.go":                    "keys by the name of their index, whose truth is read before anything is written",
	"bufferedsender/repair/digesttree/write.go":        "digests of one index, which is looked up before anything is written; a Rebuild replaces them",
	"cmd/azsearch/emulator.go":                         "a certificate",
	"cmd/azsearch/export.go":                           "a result that no later run continues",
	"cmd/azsearch/internal/backup/backup.go":           "documents that the journal names",
	"cmd/azsearch/internal/definitions/definitions.go": "definitions that pull replaces",
	"cmd/azsearch/internal/load/rejects.go":            "records that load reads as any file; one of another run is refused",
	"cmd/azsearch/internal/verify/sides.go":            "a copy of a pipe, for one comparison",
	"cmd/azsearch/internal/sorted/sorted.go":           "documents that are sorted on the disk, for one run",
	"cmd/azsearch/save.go":                             "the emulator's snapshot",
	"samples/checkpointing/main.go":                    "the input of the demonstration",
	"search/searchtest/snapshot_file.go":               "the emulator's snapshot",
}

// The test finds all code that writes files, so that new states are covered.
func TestEveryResumeStateNamesWhatItIsOf(t *testing.T) {
	tree := os.DirFS(root)
	writes := map[string]bool{}
	tests := map[string][]string{} // by folder
	tool := func(folder string) bool {
		return slices.Contains([]string{"bench", "internal", "models", "samples/internal/stage/stagetest"}, folder)
	}
	require.NoError(t, walk(tree, func(folder string) bool { return !tool(folder) }, func(name string, file *ast.File, _ *token.FileSet) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasSuffix(name, "_test.go") && strings.HasPrefix(f.Name.Name, "Test") {
				tests[path.Dir(name)] = append(tests[path.Dir(name)], f.Name.Name)
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := call.X.(*ast.Ident); ok && slices.Contains([]string{
					"disk.Replace", "disk.ReplaceBeside", "disk.OpenLocked", "os.Rename", "os.WriteFile", "os.Create", "os.CreateTemp", "os.OpenFile",
				}, of.Name+"."+call.Sel.Name) {
					writes[name] = true
				}
			}
			return true
		})
	}))
	for _, name := range slices.Sorted(maps.Keys(writes)) {
		_, is := resumed[name]
		_, isNot := notResumed[name]
		assert.True(t, is != isNot, "%s writes a file: name the test that has it refuse another source and destination, or say why it needs none", name)
	}
	for name := range notResumed {
		assert.True(t, writes[name], "%s writes no file: remove its row", name)
	}
	for name, proofs := range resumed {
		assert.FileExists(t, filepath.Join(root, name))
		for proof := range strings.FieldsSeq(proofs) {
			assert.Contains(t, tests[path.Dir(name)], proof, "%s", name)
		}
	}
}
