//go:build race

package filequeue

// The race detector makes these tests ten times as slow, and they have one goroutine or
// another process: with it a part of them will do.
func init() { oneOf, killsOfTest, lives, replays = 13, 4, 20, 6 }
