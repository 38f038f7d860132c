package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version returns the release that the go command recorded, and the Go version, system and architecture of the
// build.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("azsearch %s %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
