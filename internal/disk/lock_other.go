//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package disk

import "errors"

// lockBySystem is not supported: lockByOwner is used instead.
func lockBySystem(string) (release func() error, err error) { return nil, errors.ErrUnsupported }
