package queuefiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// segments are the files of the log, by the numbers in their names.
type segments struct {
	oldest, newest uint32
	bytes          int64
	reopened       uint32   // the newest when the queue was opened
	openings       []uint32 // the oldest at each opening
}

// read lists the directory.
func (s *segments) read(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	s.oldest, s.newest, s.bytes = 0, 0, 0
	for _, f := range files {
		var n uint32
		if _, err := fmt.Sscanf(f.Name(), "log-%d", &n); err != nil {
			continue
		}
		info, err := f.Info()
		if os.IsNotExist(err) {
			continue // removed in the meantime
		} else if err != nil {
			return err
		}
		if s.oldest == 0 || n < s.oldest {
			s.oldest = n
		}
		s.newest = max(s.newest, n)
		s.bytes += info.Size()
	}
	return nil
}

// touch is the last call for a key.
type touch struct {
	newest  uint32 // newest segment at that time; no earlier frame for the key is behind it
	session int
}

// compacted reports whether all segments that existed at a touch have been compacted since, and a segment with frames
// for the key still existed at the next opening.
func (s *segments) compacted(t touch) bool {
	return t.session+1 < len(s.openings) && s.openings[t.session+1] <= t.newest && s.oldest > t.newest
}

// touch records a call about keys.
func (r *round) touch(keys []string) error {
	oldest := r.log.oldest
	if err := r.log.read(r.dir); err != nil {
		return err
	}
	if oldest > 0 && oldest <= r.log.reopened && r.log.oldest > oldest {
		r.held("the compaction of a reopened segment")
		if r.ballast {
			r.held("a compaction on a full disk")
		}
	}
	for _, key := range keys {
		r.keys[key] = touch{r.log.newest, r.session}
	}
	return nil
}

// bounded checks the size of the log: at most four times the content of the queue, or four segments, plus the head and
// the next segment, which are allocated and mostly empty.
func (r *round) bounded() error {
	const each = 120 + 200 // for each key, in addition to text and bodies; the second part if it is leased, parked or delayed
	var lives int64
	for _, e := range r.worlds[0].Inspect(time.Now(), everything) {
		lives += each
		for _, records := range [][]queue.Record{e.Leased, e.Parked, e.Waiting} {
			for i := range records {
				lives += int64(len(records[i].Key) + len(records[i].Body))
			}
		}
	}
	if free, err := room(r.root); err != nil || r.small && free < 2*r.segment && lives > 0 {
		return err // on a full disk, keys are not rewritten if that would take the room for commits
	}
	limit := 4*max(int64(r.segment), lives) + 2*int64(r.segment)
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		switch err := r.touch(nil); {
		case err != nil:
			return err
		case r.log.bytes <= limit:
			return nil
		case time.Now().After(until):
			return fmt.Errorf("size of the log: got %d bytes (segments %d to %d, %d reopened), want at most %d for %d bytes of content",
				r.log.bytes, r.log.oldest, r.log.newest, max(0, int(r.log.reopened)-int(r.log.oldest)+1), limit, lives)
		case r.small: // an idle queue does not detect that the disk has room again
			time.Sleep(100 * time.Millisecond)
			if err := r.look(); err != nil {
				return err
			}
		}
	}
}

// fill writes a file that leaves less than a segment free on a small disk.
func (r *round) fill() error {
	free, err := room(r.root)
	if err != nil {
		return err
	}
	r.ballast = true
	size := max(0, free-r.rnd.IntN(r.segment))
	r.note("write a file of %d bytes, %d are free", size, free)
	err = os.WriteFile(filepath.Join(r.root, "ballast"), make([]byte, size), 0o644)
	if errors.Is(err, syscall.ENOSPC) {
		return nil // the queue has allocated a segment in the meantime
	}
	return err
}

// empty undoes fill.
func (r *round) empty() error {
	r.ballast = false
	r.note("remove the file")
	r.held("room on a disk that was full")
	return os.Remove(filepath.Join(r.root, "ballast"))
}
