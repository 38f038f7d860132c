package outbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// databaseFile is the file of a database when a relay started. If another file takes its path, open connections still
// write to the old file, and new ones write to the new file.
type databaseFile struct {
	path string
	was  os.FileInfo
}

// fileOf returns the file of a database, nil if it has none or cannot be determined.
func (d *dialect) fileOf(ctx context.Context, db Queryer) *databaseFile {
	if d.server.path == "" {
		return nil
	}
	return fileAt(ctx, db, d.server.path)
}

func fileAt(ctx context.Context, db Queryer, query string) *databaseFile {
	paths, err := sqlkit.Texts(ctx, db, query)
	if err != nil || len(paths) != 1 || paths[0] == "" {
		return nil
	}
	info, err := os.Stat(paths[0])
	if err != nil { // not a file of the operating system
		return nil
	}
	return &databaseFile{paths[0], info}
}

var errReplaced = errors.New("outbox: the file of the database was replaced")

// check returns an error if the path has another file, or none. A file that cannot be examined counts as unchanged.
func (f *databaseFile) check() error {
	if f == nil {
		return nil
	}
	now, err := os.Stat(f.path)
	if err == nil && !os.SameFile(f.was, now) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w or removed: %s; open the database again, and compare index and source with repair.Repairer if the file lacks commits", errReplaced, f.path)
	}
	return nil
}
