//go:build !linux

package queuefiles

import "math"

// onSmallDisk needs Linux.
func onSmallDisk(string, int, func() error) (mounted bool, err error) { return false, nil }

func room(string) (int, error) { return math.MaxInt, nil }
