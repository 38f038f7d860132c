// Package rediskit is shared by the packages that keep state on a Redis server or Redis Cluster with Lua scripts: the
// queue of a sender and the store of a rebuild. It has functions for scripts and their behavior on a full server, calls
// that survive a failover or a moved slot, WAIT, malformed answers, and settings that lose writes.
//
// Errors have no prefix: the importing package adds its own.
package rediskit
