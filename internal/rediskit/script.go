package rediskit

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Kind is the set of flags of a script. A script cannot be loaded without a Kind, because the flags decide what happens
// on a server whose memory is full: scripts that free memory, inspect or open must run there.
type Kind string

const (
	// Reads is for scripts that write nothing; the server refuses their writes. At full memory Redis 7.0.0 runs them
	// only because of allow-oom, later versions because of no-writes too.
	Reads Kind = "no-writes,allow-oom"
	// Writes is for scripts that must also run at full memory although they write: they remove, settle or open
	// something, which is worth the few bytes that they may add. A replica refuses such a script, so it is also for
	// reads that must not be stale.
	Writes Kind = "allow-oom"
	// Adds is for scripts that the server refuses before their first line while its memory is full: they add data that
	// callers can keep or send later.
	Adds Kind = ""
)

// Load returns a script made of files: the parts lua/<name>.lua in order, behind a first line with the flags. A missing
// part, or one that begins with flags, is a programming error: Load panics.
func (k Kind) Load(files fs.FS, names ...string) *redis.Script {
	return redis.NewScript(k.source(files, names...))
}

func (k Kind) source(files fs.FS, names ...string) string {
	var b strings.Builder
	b.WriteString("#!lua")
	if k != Adds {
		b.WriteString(" flags=" + string(k))
	}
	b.WriteString("\n")
	for _, name := range names {
		part, err := fs.ReadFile(files, "lua/"+name+".lua")
		if err != nil {
			panic(fmt.Sprintf("rediskit: reading a script: %v", err))
		}
		if strings.HasPrefix(string(part), "#!") {
			panic(fmt.Sprintf("rediskit: lua/%s.lua begins with flags; remove the line, its Kind has them", name))
		}
		b.Write(part)
	}
	return b.String()
}
