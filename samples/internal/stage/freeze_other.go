//go:build !unix

package stage

import (
	"errors"
	"os"
)

// CanFreeze is false on systems without the signals of Worker.Freeze.
const CanFreeze = false

func freeze(*os.Process) error { return errors.ErrUnsupported }

func thaw(*os.Process) error { return errors.ErrUnsupported }
