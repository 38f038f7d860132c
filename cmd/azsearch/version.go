package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version says which release this is, as the go command recorded it, and what
// it was built with.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("azsearch %s %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
