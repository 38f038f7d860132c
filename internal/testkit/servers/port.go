package servers

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// freePort returns a port of 127.0.0.1 that nobody listens on, nor on the one 10,000 above it,
// where a node of a Redis Cluster talks to the others. Both are below the range from which
// systems take the ports of outgoing connections: a server that is killed and started again finds
// its port as it left it.
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
