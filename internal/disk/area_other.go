//go:build !linux

package disk

import "os"

// reserve only makes a file longer: the disk can be full when it is written to.
func reserve(f *os.File, size int64) error { return f.Truncate(size) }

func syncData(f *os.File) error { return f.Sync() }
