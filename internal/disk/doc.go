// Package disk is the file layer of every package that keeps files: a folder with defined durability, and a lock that
// one process holds on it. Package disktest has a folder that simulates crashes; package journal builds records on
// both.
package disk
