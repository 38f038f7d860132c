package redisstore

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

// The Lua scripts. Redis is asked to run them by the name that it knows them by when it has had them once.
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

	loadScript     = redis.NewScript(loadSource)
	swapScript     = redis.NewScript(swapSource)
	markScript     = redis.NewScript(markSource)
	markedScript   = redis.NewScript(markedSource)
	unmarkScript   = redis.NewScript(unmarkSource)
	registerScript = redis.NewScript(registerSource)
	writersScript  = redis.NewScript(writersSource)
)
