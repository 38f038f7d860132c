//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package disk

import (
	"errors"
	"os"
)

// lockBySystem is not supported: lockByOwner is used instead.
func lockBySystem(string) (release func() error, err error) { return nil, errors.ErrUnsupported }

// nameless: what is open has a name.
func nameless(*os.File) bool { return false }

// lockDirectory: directories have no lock of their own.
func lockDirectory(string) (release func() error, err error) { return func() error { return nil }, nil }
