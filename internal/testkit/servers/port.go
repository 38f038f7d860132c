package servers

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// freePort returns a free port of 127.0.0.1 whose port plus 10,000, which Redis Cluster nodes use among themselves, is
// free too. Both are below the range of outgoing connections, so a server that is killed and restarted finds its port
// free.
func freePort() (int, error) {
	for range 100 {
		port := 11_000 + rand.IntN(10_000)
		if free(port) && free(port+10_000) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port between 11000 and 21000")
}

func free(port int) bool {
	l, err := net.Listen("tcp", local(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
