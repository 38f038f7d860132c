package deadletter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Write keeps letters. When it returns nil they are on the disk. It waits for
// nothing but the disk, and not for ctx: a letter is not worth less because
// somebody has stopped waiting for it.
//
// An error says how many of the letters are not kept for certain, which may be
// there after all. ErrFull is in its chain if they were too many, ErrClosed after
// Close.
//
// A letter of an action that Replay has sent does not become a second one: it
// replaces the reason of the first, which keeps its place and its document.
func (f *File) Write(_ context.Context, letters []Letter) error {
	// Decided before the lock is taken: encoding a document takes its time.
	var news []Letter
	var again []Letter
	for _, l := range letters {
		into := &news
		if p, ok := l.Tag.(*place); ok && p.file == f && p.isOf(&l) {
			into = &again
		}
		if f.options.Redact {
			l = redact(l)
		}
		*into = append(*into, l)
	}
	encoded := make([][]byte, 0, len(news))
	var errs []error
	for _, l := range news {
		e, err := encodeLetter(l)
		if err == nil && len(e)+numberBytes > maxLine {
			err = fmt.Errorf("a letter of %d bytes does not fit into a line of %d", len(e), maxLine)
		}
		if err != nil { // without the key: senders log it
			errs = append(errs, err)
			continue
		}
		encoded = append(encoded, e)
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	f.again(again)
	kept, err := f.write(encoded)
	if err != nil {
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d letters are not kept: %w", len(news)-kept, len(letters), errors.Join(errs...))
}

// write appends encoded letters and returns how many are kept. The caller has
// the lock.
func (f *File) write(encoded [][]byte) (kept int, err error) {
	now := time.Now()
	for len(encoded) > 0 {
		lines, n, err := f.lines(encoded)
		if n > 0 {
			if err := f.append(lines, n, now); err != nil {
				return kept, err
			}
			kept += n
			encoded = encoded[n:]
		}
		if err != nil {
			return kept, err
		}
		if len(encoded) > 0 { // the next one did not fit
			_ = f.seal() // what is in it is on the disk
		}
	}
	return kept, nil
}

// lines returns what to append to the current file, or to a new one if there is
// none, for the first n of the encoded letters, which are as many as fit. The
// error is ErrFull.
func (f *File) lines(encoded [][]byte) (lines []byte, n int, err error) {
	var size, letters int64
	if f.current != nil {
		size, letters = f.sizes[f.current.stem], f.current.letters
	}
	for _, e := range encoded {
		before := len(lines)
		lines = appendRecord(lines, letters+int64(n)+1, e)
		length := int64(len(lines))
		if f.options.MaxTotalBytes > 0 && f.total+length > f.options.MaxTotalBytes {
			return lines[:before], n, fmt.Errorf("%w: MaxTotalBytes is %d, and %d are in use", ErrFull, f.options.MaxTotalBytes, f.total+int64(before))
		}
		if size+length > f.options.maxFileBytes && size+int64(before) > 0 {
			return lines[:before], n, nil
		}
		n++
	}
	return lines, n, nil
}

// append makes lines durable, which hold n letters, in the current file or in a
// new one. If that fails, the file is never written again: nothing is known about
// its end.
func (f *File) append(lines []byte, n int, now time.Time) error {
	if f.current == nil {
		stem := stemAfter(f.newest, now)
		h, err := f.dir.Create(stem + lettersExt)
		if err != nil {
			return err
		}
		f.newest = stem
		f.current = &segment{stem: stem, handle: h}
	}
	c := f.current
	size := f.sizes[c.stem]
	_, err := c.handle.Write(lines)
	if err == nil {
		if err = c.handle.Sync(); err == nil && size == 0 {
			err = f.dir.SyncNames()
		}
	}
	if err != nil {
		f.giveUp()
		return err
	}
	f.sizes[c.stem] = size + int64(len(lines))
	f.total += int64(len(lines))
	f.written += int64(n)
	c.letters += int64(n)
	return nil
}

// giveUp seals the current file, into which a write has failed, as it was before.
// If that fails too, its torn end disturbs nobody, and the next Open mends it.
func (f *File) giveUp() {
	stem := f.current.stem
	_ = f.seal() // the caller returns the error of the write
	if size := f.sizes[stem]; size > 0 {
		_ = f.dir.Cut(stem+lettersExt, size) // a line that is torn is left out by all who read
	} else {
		_ = f.dir.Remove(stem + lettersExt) // the next Open does it, or finds dead letters that are whole
	}
}

// again records newer reasons for letters that Replay has sent. The caller has
// the lock. It cannot fail in a way that matters to Write: the letter is where
// it was, if only with its older reason, and Replay, which does not find it
// marked, tries again and reports the failure.
func (f *File) again(letters []Letter) {
	entries := make(map[string]*entry)
	for _, l := range letters {
		p := l.Tag.(*place)
		if _, ok := f.sizes[p.stem]; !ok {
			continue // it has been delivered or discarded in the meantime
		}
		e := entries[p.stem]
		if e == nil {
			e = new(entry)
			entries[p.stem] = e
		}
		e.Again = append(e.Again, refusalOf(p.n, p.letter, l))
	}
	for _, stem := range slices.Sorted(maps.Keys(entries)) {
		if f.record(stem, *entries[stem]) != nil {
			continue
		}
		for _, l := range letters {
			if p := l.Tag.(*place); p.stem == stem {
				p.recorded = true
			}
		}
	}
}

// record appends an entry to a journal, durably. The caller has the lock.
//
// The first entry of this File, and the first after a failure, repeats what is
// in the journal already. It can be read, but it may be in memory only: a sync
// that succeeds says nothing about what one before has failed to write.
func (f *File) record(stem string, e entry) error {
	entries := f.journals[stem]
	f.journals[stem] = 0 // until this one is durable
	if entries == 0 {
		j, err := readJournal(f.dir, stem)
		if err != nil {
			return err
		}
		before := j.entry()
		e.Done, e.Again = append(before.Done, e.Done...), append(before.Again, e.Again...)
	}
	err := appendEntry(f.dir, stem, e)
	if err == nil && entries == 0 {
		err = f.dir.SyncNames()
	}
	if err != nil {
		return fmt.Errorf("cannot record the outcome of dead letters: %w", err)
	}
	f.journals[stem] = entries + 1
	return nil
}

// place says in the tag of an action which letter it was made of.
type place struct {
	file   *File
	stem   string
	n      int64
	letter Letter          // as it was, without its document
	sent   json.RawMessage // the document that was given to the sender

	recorded bool // a newer reason is; guarded by File.mu
}

// isOf reports whether l is about the action that was made of the letter, and not
// about one that the sender has made of it and another one: a sender that folds
// hands over the tag of the older. What the other one had to say must be kept.
func (p *place) isOf(l *Letter) bool {
	switch {
	case l.Action != p.letter.Action:
		return false
	case l.Action == models.ActionTypeDelete, l.Document == nil:
		return true
	}
	// A sender may leave out blanks.
	return bytes.Equal(compact(l.Document), compact(p.sent))
}

// compact returns a document without the blanks between its tokens.
func compact(document json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, document) != nil { // no sender has accepted it
		return document
	}
	return b.Bytes()
}
