//go:build !unix

package measure

import "time"

// cpuTime returns 0: not measured on this system.
func cpuTime() time.Duration { return 0 }
