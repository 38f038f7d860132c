package redisqueue

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts by it
	_ "embed"
	"encoding/hex"
	"strings"
)

// script is a Lua script as Redis gets it, and the name by which Redis knows it afterwards.
type script struct{ source, sha string }

var (
	//go:embed lua/shard.lua
	shardSource string
	//go:embed lua/open.lua
	openSource string
	//go:embed lua/append.lua
	appendSource string
	//go:embed lua/adder.lua
	adderSource string
	//go:embed lua/exchange.lua
	exchangeSource string
	//go:embed lua/extend.lua
	extendSource string
	//go:embed lua/settled.lua
	settledSource string
	//go:embed lua/stats.lua
	statsSource string
	//go:embed lua/admin.lua
	adminSource string
	//go:embed lua/peek.lua
	peekSource string
	//go:embed lua/next.lua
	nextSource string
	//go:embed lua/repair.lua
	repairSource string
	//go:embed lua/destroy.lua
	destroySource string

	openScript     = scriptOf("", openSource)
	destroyScript  = scriptOf("", destroySource)
	appendScript   = scriptOf(shardSource, appendSource)
	adderScript    = scriptOf(shardSource, adderSource)
	exchangeScript = scriptOf(shardSource, exchangeSource)
	extendScript   = scriptOf(shardSource, extendSource)
	settledScript  = scriptOf(shardSource, settledSource)
	statsScript    = scriptOf(shardSource, statsSource)
	adminScript    = scriptOf(shardSource, adminSource)
	peekScript     = scriptOf(shardSource, peekSource)
	nextScript     = scriptOf(shardSource, nextSource)
	repairScript   = scriptOf(shardSource, repairSource)
)

// scriptOf puts what all scripts begin with behind the first line, which has the flags.
func scriptOf(before, source string) *script {
	flags, rest, _ := strings.Cut(source, "\n")
	s := flags + "\n" + before + rest
	sum := sha1.Sum([]byte(s)) //nolint:gosec // Redis names scripts by it
	return &script{s, hex.EncodeToString(sum[:])}
}
