package redisstore

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts by it
	_ "embed"
	"encoding/hex"
)

// script is a Lua script, and the name by which Redis knows it when it has had it once.
type script struct{ source, sha string }

var (
	//go:embed lua/load.lua
	loadSource string
	//go:embed lua/swap.lua
	swapSource string
	//go:embed lua/mark.lua
	markSource string
	//go:embed lua/marked.lua
	markedSource string
	//go:embed lua/unmark.lua
	unmarkSource string
	//go:embed lua/register.lua
	registerSource string
	//go:embed lua/writers.lua
	writersSource string

	loadScript     = scriptOf(loadSource)
	swapScript     = scriptOf(swapSource)
	markScript     = scriptOf(markSource)
	markedScript   = scriptOf(markedSource)
	unmarkScript   = scriptOf(unmarkSource)
	registerScript = scriptOf(registerSource)
	writersScript  = scriptOf(writersSource)
)

func scriptOf(source string) *script {
	sum := sha1.Sum([]byte(source)) //nolint:gosec // Redis names scripts by it
	return &script{source, hex.EncodeToString(sum[:])}
}
