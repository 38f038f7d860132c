// Package disk is the file layer of every package that keeps files: a folder that says what is durable when, and the
// lock that one process holds on it. Package disktest has a folder that crashes; package journal builds records on
// both.
package disk
