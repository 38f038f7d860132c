// Package rediskit is for the packages that keep state on a Redis server or a Redis Cluster with Lua scripts: the
// queue of a sender and the store of a rebuild. It has plain functions for what both need: scripts and how they treat
// a full server, calls that survive a failover and a moved slot, WAIT, answers of an unexpected form, and settings
// that lose writes.
//
// Errors have no prefix: the importing package adds its own.
package rediskit
