package source

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"
)

// pause is how long an input that gave a record is waited for, so that the records of a busy pipe are read together.
const pause = 100 * time.Millisecond

// pipe reads an input that may give nothing for any time, such as a pipe or a terminal. A goroutine of its own waits
// for the input, so that the end of a context releases the reader, and the reader knows whether it would wait.
type pipe struct {
	ctx    context.Context
	cancel context.CancelFunc
	chunks chan []byte // closed when the input ends
	err    error       // why; set before chunks is closed
	free   chan []byte // buffers that were read
	chunk  []byte      // the buffer of rest
	rest   []byte      // received and not read
}

const pipeBytes = 64 << 10

func newPipe(ctx context.Context, r io.Reader) *pipe {
	p := &pipe{chunks: make(chan []byte, 2), free: make(chan []byte, 3)}
	p.ctx, p.cancel = context.WithCancel(ctx)
	for range cap(p.free) {
		p.free <- make([]byte, pipeBytes)
	}
	go p.fill(r)
	return p
}

// fill passes on what r gives. It ends after the last Read: nothing ends a Read of the standard input.
func (p *pipe) fill(r io.Reader) {
	defer close(p.chunks)
	for empty := 0; p.err == nil; {
		select {
		case <-p.ctx.Done():
			return
		case buf := <-p.free:
			var n int
			if n, p.err = r.Read(buf); n == 0 {
				if empty++; p.err == nil && empty > 100 {
					p.err = io.ErrNoProgress
				}
				p.free <- buf
				continue
			}
			empty = 0
			select {
			case p.chunks <- buf[:n]:
			case <-p.ctx.Done():
				return
			}
		}
	}
}

// ready reports whether Read returns at once, or does so before a time.
func (p *pipe) ready(before time.Time) bool {
	if len(p.rest) > 0 {
		return true
	}
	select {
	case chunk, more := <-p.chunks:
		return p.receive(chunk, more)
	default:
	}
	timer := time.NewTimer(time.Until(before))
	defer timer.Stop()
	select {
	case chunk, more := <-p.chunks:
		return p.receive(chunk, more)
	case <-p.ctx.Done():
		return true
	case <-timer.C:
		return false
	}
}

func (p *pipe) receive(chunk []byte, more bool) bool {
	if more {
		p.chunk, p.rest = chunk, chunk
	}
	return true
}

// Read implements io.Reader. If the context ends first, it returns the cause.
func (p *pipe) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		select {
		case chunk, more := <-p.chunks:
			switch {
			case more:
				p.receive(chunk, more)
			case p.ctx.Err() != nil:
				return 0, context.Cause(p.ctx)
			default:
				return 0, p.err
			}
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	n := copy(b, p.rest)
	if p.rest = p.rest[n:]; len(p.rest) == 0 {
		p.free <- p.chunk[:pipeBytes]
	}
	return n, nil
}

// Close ends the goroutine, unless it waits for the input.
func (p *pipe) Close() error {
	p.cancel()
	return nil
}

// Released returns a reader of r that returns the cause when ctx ends, even if r gives nothing. Close it.
func Released(ctx context.Context, r io.Reader) io.ReadCloser { return newPipe(ctx, r) }

// openFile opens a file. A FIFO opens when it has a writer, or ctx ends.
func openFile(ctx context.Context, name string) (*os.File, error) {
	if info, err := os.Stat(name); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.Open(name)
		opened <- result{file, err}
	}()
	select {
	case r := <-opened:
		return r.file, r.err
	case <-ctx.Done():
		go func() {
			if r := <-opened; r.err == nil {
				_ = r.file.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}
