// Package memqueue is a queue in memory, for tests of programs that use a durable queue, and the reference for authors
// of another back end. It follows all rules of package queue except durability: its content is lost when the process
// ends. The package is experimental: its API may change in any release.
package memqueue
