//go:build !unix

package digesttree

import "time"

// cpuTime is not available here.
func cpuTime() time.Duration { return 0 }
