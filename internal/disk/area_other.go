//go:build !linux

package disk

import "os"

// reserve only extends the file: the disk can be full at a later write.
func reserve(f *os.File, size int64) error { return f.Truncate(size) }

func syncData(f *os.File) error { return f.Sync() }
