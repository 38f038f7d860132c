// Package memqueue is a queue in memory, for tests of programs that use a durable one, and
// the reference for those who write another back end. It keeps all the rules of package
// queue but one: what is in it ends with the process.
// The package is experimental: its API may change in any release.
package memqueue
