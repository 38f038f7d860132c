// Package disk is for what keeps files of its own: dead letters, repair hints and the file
// queue. It has a directory that says what is durable when, and the lock that one process holds on it.
// Package disktest has a directory that crashes.
package disk
