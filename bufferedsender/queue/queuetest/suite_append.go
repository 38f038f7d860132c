package queuetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

//archtest:long a list of independent promises
func appendPromises() []promise {
	return []promise{
		of("an upload takes the place of everything that waits for its key", func(c *trial) {
			c.add(upload("a", "1"))
			c.add(merge("a", "2"), merge("a", "3"))
			equal(c, c.add(upload("a", "4")).Replaced, 3, "replaced")
			c.take(1, "a: upload 4")
		}),
		of("a delete takes the place of everything that waits for its key", func(c *trial) {
			c.add(merge("a", "1"), merge("a", "2"))
			equal(c, c.add(remove("a", "3")).Replaced, 2, "replaced")
			c.take(1, "a: delete 3")
		}),
		of("a record without an operation takes the place of everything that waits for its key", func(c *trial) {
			c.add(upload("a", "1"))
			equal(c, c.add(changed("a")).Replaced, 1, "replaced")
			c.take(1, "a: changed")
		}),
		of("merges wait behind the records that they change, in the order of Append", func(c *trial) {
			c.add(upload("a", "1"), merge("a", "2"))
			equal(c, c.add(record("a", models.ActionTypeMergeOrUpload, "3"), merge("a", "4")).Replaced, 0, "replaced")
			c.take(1, "a: upload 1 merge 2 mergeOrUpload 3 merge 4")
		}),
		of("a key that occurs twice in a call is folded as in two calls", func(c *trial) {
			receipt := c.add(merge("a", "1"), upload("a", "2"), upload("b", "3"), merge("a", "4"), remove("b", "5"))
			equal(c, receipt.Replaced, 2, "replaced")
			c.take(2, "a: upload 2 merge 4", "b: delete 5")
		}),
		of("an append does not touch leased records", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			equal(c, c.add(upload("a", "2")).Replaced, 0, "replaced")
			c.nothing("a is leased")
			c.commit(leases)
			c.take(1, "a: upload 2")
		}),
		of("records behind a lease fold there", func(c *trial) {
			c.add(upload("a", "1"))
			leases := c.take(1, "a: upload 1")
			c.add(merge("a", "2"))
			equal(c, c.add(upload("a", "3")).Replaced, 1, "replaced")
			c.commit(leases)
			c.take(1, "a: upload 3")
		}),
		of("a receipt and Stats count new and replaced records", func(c *trial) {
			for _, step := range []struct {
				records  []queue.Record
				replaced int
				waiting  int64
			}{
				{nil, 0, 0},
				{[]queue.Record{upload("f", "5")}, 0, 1},
				{[]queue.Record{upload("f", "10"), upload("b", "13")}, 1, 2},
				{[]queue.Record{upload("f", "4"), upload("z", "1")}, 1, 3},
				{[]queue.Record{upload("c", "7"), upload("d", "8"), upload("e", "9")}, 0, 6},
				{[]queue.Record{upload("c", "1"), upload("d", "8"), upload("x", "3")}, 2, 7},
			} {
				equal(c, c.add(step.records...).Replaced, step.replaced, "replaced")
				c.counts(step.waiting, 0, 0)
			}
			s := c.stats()
			equal(c, s.Appended, 11, "Stats.Appended")
			equal(c, s.Replaced, 4, "Stats.Replaced")
		}),
		of("records are returned as they were appended, with their origin and rising numbers", func(c *trial) {
			body := []byte("1")
			call := c.call(queue.Record{Key: "a", Op: models.ActionTypeUpload, Body: body, Class: 3})
			c.send(call)
			body[0] = 'x' // the queue must have copied it
			second := c.call(upload("b", "2"), merge("a", "3"))
			c.send(second)
			leases := c.reserve(2)
			c.expectAny(leases, "a: upload 1 merge 3", "b: upload 2")
			i := slices.IndexFunc(leases, func(l queue.Lease) bool { return l.Key == c.key("a") })
			first, last := leases[i].Records[0], leases[i].Records[1]
			equal(c, first.Key, c.key("a"), "Key")
			equal(c, first.Class, 3, "Class")
			equal(c, first.From, queue.Origin{Adder: c.adder, Number: call.Number, Index: 0}, "From of the first")
			equal(c, last.From, queue.Origin{Adder: c.adder, Number: second.Number, Index: 1}, "From of the last")
			if first.Seq == 0 || last.Seq <= first.Seq {
				c.t.Fatalf("Seq %d, then %d", first.Seq, last.Seq)
			}
			first.Body[0] = 'x' // a returned body belongs to the caller
			c.end(queue.Release, leases)
			c.expectAny(c.reserve(2), "a: upload 1 merge 3", "b: upload 2")
		}),
		of("any key is a key", func(c *trial) {
			keys := []string{
				"{}", "{}abc", "abc{}", "a{}b{c}", "}x{", "a}b", "{a}", "a{b", "{{a}}", "a:b", ":", "::", " ", "a b", "\x00", "a\x00b",
				"\n", "\r\n", "\xff\xfe", "ключ", "鍵", "🔑", "%7B", "a/b", "../a", "*", "a'b\"c", "\\", "0", "-1", "1e5", "nil",
				string(make([]byte, 1024)),
			}
			var records []queue.Record
			var lines []string
			for i, k := range keys {
				records = append(records, upload(k, fmt.Sprint(i)), merge(k, "and more"))
				lines = append(lines, fmt.Sprintf("%s: upload %d merge and more", k, i))
			}
			c.add(records...)
			leases := c.reserve(len(keys))
			c.expectAny(leases, lines...)
			found := c.contains(keys...)
			if slices.Contains(found, false) {
				c.t.Fatalf("Contains: %v", found)
			}
			c.commit(leases)
			c.counts(0, 0, 0)
		}),
		of("a context that has ended ends a call", func(c *trial) {
			ctx, cancel := context.WithCancel(c.ctx)
			cancel()
			call := c.call(upload("a", "1"))
			if _, err := c.h.Queue.Append(ctx, call); !errors.Is(err, context.Canceled) {
				c.t.Fatalf("Append: %v", err)
			}
			if _, err := c.h.Queue.Reserve(ctx, c.want(1)); !errors.Is(err, context.Canceled) {
				c.t.Fatalf("Reserve: %v", err)
			}
			c.send(call) // whether the first call was applied or not
			c.take(1, "a: upload 1")
			equal(c, c.stats().Appended, 1, "Stats.Appended")
		}),
	}
}

func repeatPromises() []promise {
	return []promise{
		of("a call that is repeated is answered with the same receipt and changes nothing", func(c *trial) {
			c.add(upload("a", "1"))
			call := c.call(upload("a", "2"), merge("b", "3"))
			receipt := c.send(call)
			for range 3 {
				repeated := c.send(call)
				equal(c, repeated.Position, receipt.Position, "Position")
				equal(c, repeated.Replaced, receipt.Replaced, "Replaced")
				equal(c, repeated.Folded, receipt.Folded, "Folded")
			}
			equal(c, c.stats().Appended, 3, "Stats.Appended")
			c.take(2, "a: upload 2", "b: merge 3")
		}),
		of("a call that is repeated after its records were settled brings nothing back", func(c *trial) {
			call := c.call(upload("a", "1"))
			c.send(call)
			c.commit(c.take(1, "a: upload 1"))
			c.send(call)
			c.nothing("the call was applied, and is settled")
			c.counts(0, 0, 0)
		}),
		of("a call that is repeated while its records are leased adds nothing behind them", func(c *trial) {
			call := c.call(merge("a", "1"))
			c.send(call)
			leases := c.take(1, "a: merge 1")
			c.send(call)
			c.commit(leases)
			c.nothing("the call was applied once")
		}),
		of("a lower number is ErrTooOld and changes nothing", func(c *trial) {
			first, second := c.call(upload("a", "1")), c.call(upload("a", "2"))
			c.send(first)
			c.send(second)
			_, err := c.h.Queue.Append(c.ctx, first)
			c.is(err, queue.ErrTooOld, "the call before the last one")
			c.take(1, "a: upload 2")
			equal(c, c.stats().Appended, 2, "Stats.Appended")
		}),
		of("numbers may have gaps", func(c *trial) {
			c.add(upload("a", "1"))
			c.number += 1000
			c.add(upload("a", "2"))
			c.take(1, "a: upload 2")
		}),
		of("numbers of different adders have nothing to do with each other", func(c *trial) {
			c.number = 5
			c.add(merge("a", "1"))
			c.adder, c.number = queue.NewID(), 0
			c.add(merge("a", "2"))
			c.take(1, "a: merge 1 merge 2")
		}),
		of("a call that was refused leaves its number free", func(c *trial) {
			call := c.call(upload("a", ""))
			if _, err := c.h.Queue.Append(c.ctx, call); err == nil {
				c.t.Fatal("an upload without a body was accepted")
			}
			call.Records[0].Body = []byte("1")
			c.send(call)
			c.take(1, "a: upload 1")
		}),
		of("a repeat after Memory is never applied again", func(c *trial) {
			call := c.call(merge("a", "1"))
			c.send(call)
			c.h.Sleep(queue.Memory + time.Hour)
			if _, err := c.h.Queue.Append(c.ctx, call); err != nil {
				c.is(err, queue.ErrTooOld, "a repeat after queue.Memory")
			}
			c.take(1, "a: merge 1")
		}),
		of("a repeat within Memory is recognized", func(c *trial) {
			call := c.call(merge("a", "1"))
			receipt := c.send(call)
			c.h.Sleep(queue.Memory - time.Hour)
			equal(c, c.send(call).Position, receipt.Position, "Position")
			c.take(1, "a: merge 1")
		}),
	}
}

//archtest:long a list of independent promises
func foldPromises() []promise {
	// piled appends n merges to the key a, one in each call, and returns the last receipt.
	piled := func(c *trial, n int) (receipt queue.Receipt) {
		for i := range n {
			receipt = c.add(merge("a", fmt.Sprint(i+1)))
			if i+1 < queue.PileLimit && len(receipt.Piles) > 0 {
				c.t.Fatalf("got a pile of %d in the receipt", i+1)
			}
		}
		return receipt
	}
	// folding returns a call that folds a pile into one record.
	folding := func(c *trial, p queue.Pile, body string) queue.Call {
		call := c.call()
		call.Folds = []queue.Fold{{
			Key: p.Key, Count: len(p.Records), Last: p.Records[len(p.Records)-1].Seq, Records: []queue.Record{merge(p.Key, body)},
		}}
		return call
	}
	return []promise{
		of("a pile of PileLimit records is answered to be folded, and folds", func(c *trial) {
			receipt := piled(c, queue.PileLimit)
			equal(c, len(receipt.Piles), 1, "piles")
			pile := receipt.Piles[0]
			equal(c, pile.Key, c.key("a"), "Key of the pile")
			equal(c, len(pile.Records), queue.PileLimit, "records of the pile")
			for i, r := range pile.Records {
				equal(c, string(r.Body), fmt.Sprint(i+1), "body")
			}
			last := pile.Records[queue.PileLimit-1]
			receipt = c.send(folding(c, pile, "all"))
			equal(c, receipt.Folded, queue.PileLimit-1, "folded")
			equal(c, receipt.Replaced, 0, "replaced")
			equal(c, c.stats().Folded, queue.PileLimit-1, "Stats.Folded")
			c.add(merge("a", "new"))
			leases := c.take(1, "a: merge all merge new")
			equal(c, leases[0].Records[0].From, last.From, "From of folded records")
			if leases[0].Records[0].Seq >= leases[0].Records[1].Seq {
				c.t.Fatal("the numbers do not rise any more")
			}
		}),
		of("a pile that is replaced further back in its call is not answered", func(c *trial) {
			piled(c, queue.PileLimit-1)
			equal(c, len(c.add(merge("a", "high"), upload("a", "new")).Piles), 0, "piles")
			c.take(1, "a: upload new")
		}),
		of("a fold that has happened already changes nothing and returns no error", func(c *trial) {
			pile := piled(c, queue.PileLimit).Piles[0]
			c.send(folding(c, pile, "all"))
			equal(c, c.send(folding(c, pile, "all again")).Folded, 0, "folded")
			c.take(1, "a: merge all")
		}),
		of("a fold of records that were leased since changes nothing", func(c *trial) {
			pile := piled(c, queue.PileLimit).Piles[0]
			leases := c.reserve(1)
			equal(c, c.send(folding(c, pile, "all")).Folded, 0, "folded")
			equal(c, len(leases[0].Records), queue.PileLimit, "records that are leased")
			c.commit(leases)
			c.nothing("nothing waits")
		}),
		of("a fold of records that were replaced since changes nothing", func(c *trial) {
			pile := piled(c, queue.PileLimit).Piles[0]
			c.add(upload("a", "new"))
			equal(c, c.send(folding(c, pile, "all")).Folded, 0, "folded")
			c.take(1, "a: upload new")
		}),
		of("a fold whose last record is another one changes nothing", func(c *trial) {
			pile := piled(c, queue.PileLimit).Piles[0]
			call := folding(c, pile, "wrong")
			call.Folds[0].Last--
			equal(c, c.send(call).Folded, 0, "folded")
			equal(c, len(c.reserve(1)[0].Records), queue.PileLimit, "records")
		}),
		of("a fold keeps later records", func(c *trial) {
			pile := piled(c, queue.PileLimit).Piles[0]
			c.add(merge("a", "later"))
			call := folding(c, pile, "all")
			call.Folds = append(call.Folds, queue.Fold{Key: c.key("b"), Count: 2, Last: 1, Records: []queue.Record{merge(c.key("b"), "nothing waits")}})
			equal(c, c.send(call).Folded, queue.PileLimit-1, "folded")
			c.take(2, "a: merge all merge later")
		}),
		of("folds precede the records of their call", func(c *trial) {
			pile := piled(c, queue.PileLimit).Piles[0]
			call := folding(c, pile, "all")
			call.Records = []queue.Record{merge(c.key("a"), "with it")}
			c.send(call)
			c.take(1, "a: merge all merge with it")
		}),
		of("a fold that is repeated with its call is counted once", func(c *trial) {
			pile := piled(c, queue.PileLimit).Piles[0]
			call := folding(c, pile, "all")
			first := c.send(call)
			equal(c, c.send(call).Folded, first.Folded, "folded, as it was answered before")
			equal(c, c.stats().Folded, queue.PileLimit-1, "Stats.Folded")
		}),
		of("a fold keeps the place of its key", func(c *trial) {
			piled(c, queue.PileLimit-1)
			c.add(upload("b", "1"))
			receipt := c.add(merge("a", "last"))
			c.send(folding(c, receipt.Piles[0], "all"))
			c.take(2, "a: merge all", "b: upload 1")
		}),
		of("a fold may leave several records, with rising numbers", func(c *trial) {
			pile := piled(c, queue.PileLimit).Piles[0]
			call := folding(c, pile, "first half")
			call.Folds[0].Records = append(call.Folds[0].Records, merge(pile.Key, "second half"))
			equal(c, c.send(call).Folded, queue.PileLimit-2, "folded")
			leases := c.take(1, "a: merge first half merge second half")
			if r := leases[0].Records; r[0].Seq >= r[1].Seq {
				c.t.Fatal("the numbers do not rise")
			}
		}),
		of("the receipt of a pile behind a lease omits the leased records", func(c *trial) {
			c.add(upload("a", "0"))
			leases := c.take(1, "a: upload 0")
			pile := piled(c, queue.PileLimit).Piles[0]
			equal(c, string(pile.Records[0].Body), "1", "first body")
			c.send(folding(c, pile, "all"))
			c.end(queue.Release, leases)
			c.take(1, "a: upload 0 merge all")
		}),
	}
}

func (c *trial) contains(keys ...string) []bool {
	c.t.Helper()
	m, ok := c.h.Queue.(queue.Membership)
	if !ok {
		c.t.Fatal("the queue does not implement queue.Membership")
	}
	found, err := m.Contains(c.ctx, keys...)
	c.noError(err, "Contains")
	return found
}
