// Package bounds limits how full a queue may be, for all back ends: rule 7 of Append in ../../DESIGN.md.
package bounds

import (
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Bounds limits the number of keys of a queue, or of one shard, and the bytes of keys and bodies; 0 means no limit.
// Parked keys, which only operators remove, have a share of their own of the same size. Only what exceeds this share
// takes room from other keys.
type Bounds struct{ Keys, Bytes int64 }

// Fill is the content of a queue: the number and bytes of all keys, and of the parked ones.
type Fill struct{ Keys, Parked, Bytes, ParkedBytes int64 }

// Full returns an error if the queue, filled like this after a call, is over its bounds. A call that adds neither keys
// nor bytes is never refused.
func (b Bounds) Full(f Fill, moreKeys, moreBytes bool) error {
	if b.Keys > 0 && moreKeys && f.Keys-min(f.Parked, b.Keys) > b.Keys {
		return fmt.Errorf("%w: with this call %d keys wait or are leased, and %d are parked; MaxKeys is %d%s",
			queue.ErrFull, f.Keys-f.Parked, f.Parked, b.Keys, advice(f.Parked, b.Keys))
	}
	if b.Bytes > 0 && moreBytes && f.Bytes-min(f.ParkedBytes, b.Bytes) > b.Bytes {
		return fmt.Errorf("%w: with this call %d bytes wait or are leased, and %d are parked; MaxBytes is %d%s",
			queue.ErrFull, f.Bytes-f.ParkedBytes, f.ParkedBytes, b.Bytes, advice(f.ParkedBytes, b.Bytes))
	}
	return nil
}

func advice(parked, share int64) string {
	if parked <= share {
		return ""
	}
	return "; Unpark or Drop parked keys"
}

// Fault returns an error once parked keys have used up their share.
func (b Bounds) Fault(f Fill) error {
	if b.Keys > 0 && f.Parked >= b.Keys {
		return fmt.Errorf("%w: %d keys are parked, and MaxKeys is %d; Unpark or Drop them", queue.ErrFull, f.Parked, b.Keys)
	}
	if b.Bytes > 0 && f.ParkedBytes >= b.Bytes {
		return fmt.Errorf("%w: %d bytes are parked, and MaxBytes is %d; Unpark or Drop them", queue.ErrFull, f.ParkedBytes, b.Bytes)
	}
	return nil
}
