//go:build !unix

package main

import (
	"errors"
	"os"
)

const canFreeze = false

func freeze(*os.Process) error { return errors.ErrUnsupported }

func thaw(*os.Process) error { return errors.ErrUnsupported }
