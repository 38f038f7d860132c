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

// Write keeps dead letters. When it returns nil they are durable. It waits only for the disk and ignores ctx, because a
// dead letter must be kept even if its caller stops waiting.
//
// An error counts the dead letters that are not certainly kept; some of them may be. ErrFull is in its chain if
// MaxTotalBytes was exceeded, ErrClosed after Close.
//
// A dead letter of an action that Replay has sent does not become a second one: it updates the reason of the first,
// which keeps its place and its document.
//
// A dead letter without an Action is not kept: it reports that Version of the document is applied. Older dead letters
// of Key are outdated then, and no Replay sends them. All of the call must be such. A sender with Folding.Version
// writes this itself, before it reports the action as completed, if the File is its DeadLetters.
func (f *File) Write(_ context.Context, letters []Letter) error {
	if onlyVersions(letters) {
		return f.applied(letters)
	}
	// Encode before taking the lock, because encoding takes time.
	var news, again []Letter
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
	writable := news[:0]
	var errs []error
	for _, l := range news {
		e, err := encodeLetter(l, 0)
		if err == nil && len(e)+numberBytes > maxLine {
			err = fmt.Errorf("a dead letter of %d bytes does not fit into a line of %d", len(e), maxLine)
		}
		if err != nil { // without the key, because senders log the error
			errs = append(errs, err)
			continue
		}
		encoded, writable = append(encoded, e), append(writable, l)
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	f.again(again)
	kept, err := f.write(encoded, writable)
	if err != nil {
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d dead letters are not kept: %w", len(news)-kept, len(letters), errors.Join(errs...))
}

// onlyVersions reports whether all are versions that are applied; see Write.
func onlyVersions(letters []Letter) bool {
	for i := range letters {
		if letters[i].Action != "" || letters[i].Version == 0 {
			return false
		}
	}
	return len(letters) > 0
}

// write appends encoded dead letters and returns how many are kept. The caller has the lock.
func (f *File) write(encoded [][]byte, letters []Letter) (kept int, err error) {
	now := time.Now()
	for len(encoded) > 0 {
		lines, n, err := f.lines(encoded)
		if n > 0 {
			if err := f.append(lines, n, now); err != nil {
				return kept, err
			}
			first := f.current.letters - int64(n) + 1
			if marks := f.versions.written(f.current.stem, first, letters[kept:kept+n]); len(marks) > 0 {
				_ = f.mark(marks) // tried again; until then only this File knows
			}
			kept += n
			encoded = encoded[n:]
		}
		if err != nil {
			return kept, err
		}
		if len(encoded) > 0 { // the next one did not fit
			_ = f.seal() // its content is durable
		}
	}
	return kept, nil
}

// lines returns the lines of the first n encoded dead letters, as many as fit, for the current file, or for a new one
// if there is none. The error is ErrFull.
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

// append makes lines with n dead letters durable, in the current file or in a new one. After a failure the file is
// never written again, because its end is unknown.
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
	c.note(f.dir, f.sizes[c.stem], size == 0)
	return nil
}

// giveUp cuts the current file back to its size before a failed write, and seals it. If that fails too, readers ignore
// the torn end, and the next Open repairs it.
func (f *File) giveUp() {
	stem := f.current.stem
	_ = f.seal() // the caller returns the error of the write
	if size := f.sizes[stem]; size > 0 {
		_ = f.dir.Cut(stem+lettersExt, size) // readers leave out a torn line
	} else {
		_ = f.dir.Remove(stem + lettersExt) // the next Open removes it, or finds whole dead letters
	}
}

// again records newer reasons for replayed dead letters. The caller has the lock. Write does not return its errors: the
// dead letter is kept with the older reason, and Replay, which finds recorded unset, tries again and returns the error.
func (f *File) again(letters []Letter) {
	entries := make(map[string]*entry)
	for _, l := range letters {
		p := l.Tag.(*place)
		if _, ok := f.sizes[p.stem]; !ok {
			continue // delivered or discarded meanwhile
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
// The first entry of this File, and the first after a failure, repeats all earlier entries. They are readable but may
// only be in memory: a successful sync does not cover data that an earlier sync failed to write.
func (f *File) record(stem string, e entry) error {
	first := f.journals[stem] == 0
	f.journals[stem] = 0 // until this one is durable
	if first {
		j, err := readJournal(f.dir, stem)
		if err != nil {
			return err
		}
		e = e.after(j.entry())
	}
	err := appendEntry(f.dir, stem, e)
	if err == nil && first {
		err = f.dir.SyncNames()
	}
	if err != nil {
		return fmt.Errorf("cannot record the outcome of dead letters: %w", err)
	}
	f.entries++
	f.journals[stem] = f.entries
	return nil
}

// place identifies the dead letter that a replayed action was made from. It is the tag of the action.
type place struct {
	file   *File
	stem   string
	n      int64
	letter Letter          // the original, without its document
	sent   json.RawMessage // the document given to the sender

	recorded bool // a newer reason is recorded; guarded by File.mu
}

// isOf reports whether l is about the replayed action itself. A sender that folds actions may have merged it with
// another one, and reports the tag of the older; such an outcome must be kept separately.
func (p *place) isOf(l *Letter) bool {
	switch {
	case l.Action != p.letter.Action:
		return false
	case l.Action == models.ActionTypeDelete, l.Document == nil:
		return true
	}
	// A sender may remove white space.
	return bytes.Equal(compact(l.Document), compact(p.sent))
}

// compact returns a document without white space between its tokens.
func compact(document json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, document) != nil { // no sender has accepted it
		return document
	}
	return b.Bytes()
}
