package rediskit

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Kind is the list of flags of a script. A script cannot be loaded without one, so that each decides what happens on a
// server whose memory is full: what makes room, looks inside or opens must run there.
type Kind string

const (
	// Reads is the kind of a script that writes nothing; the server refuses its writes. Redis 7.0.0 runs it at full
	// memory because of allow-oom only, later versions because of no-writes, too.
	Reads Kind = "no-writes,allow-oom"
	// Writes is the kind of a script that also runs at full memory, though it writes: what it removes, settles or opens
	// is worth the few bytes that it may add. A replica refuses it, so it is also for reads that must not be old.
	Writes Kind = "allow-oom"
	// Adds is the kind of a script that a server refuses before its first line while memory is full: it adds what
	// callers can keep or send later.
	Adds Kind = ""
)

// Load returns a script of files, the parts lua/<name>.lua one after the other behind the first line, which has the
// flags. A part that is missing, or that has a first line of flags of its own, is a mistake in the program: Load
// panics.
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
