//go:build !unix

package digesttree

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
