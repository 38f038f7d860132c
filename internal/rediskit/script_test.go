package rediskit

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

var files = fstest.MapFS{
	"lua/shard.lua":   {Data: []byte("local a = 1\n")},
	"lua/read.lua":    {Data: []byte("return a\n")},
	"lua/flagged.lua": {Data: []byte("#!lua flags=allow-oom\nreturn 1\n")},
}

func TestAScriptBeginsWithTheFlagsOfItsKind(t *testing.T) {
	assert.Equal(t, "#!lua flags=no-writes,allow-oom\nlocal a = 1\nreturn a\n", Reads.source(files, "shard", "read"))
	assert.Equal(t, "#!lua flags=allow-oom\nreturn a\n", Writes.source(files, "read"))
	assert.Equal(t, "#!lua\nreturn a\n", Adds.source(files, "read"))
}

func TestAScriptThatIsMissingOrHasFlagsOfItsOwnStopsTheProgram(t *testing.T) {
	assert.PanicsWithValue(t, "rediskit: reading a script: open lua/gone.lua: file does not exist", func() { Reads.Load(files, "gone") })
	assert.PanicsWithValue(t, "rediskit: lua/flagged.lua begins with flags; remove the line, its Kind has them", func() { Reads.Load(files, "flagged") })
}
