//go:build !unix

package stage

import (
	"errors"
	"os"
)

// CanFreeze reports whether the system supports Worker.Freeze.
const CanFreeze = false

func freeze(*os.Process) error { return errors.ErrUnsupported }

func thaw(*os.Process) error { return errors.ErrUnsupported }
