package repair

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
)

// treeRounds is the limit of comparisons of one RunTree, of 128 keys each. For more keys a pass is cheaper.
const treeRounds = 16

// TreeReport is the part of a Report that only RunTree fills.
type TreeReport struct {
	// Rebuilt is the number of due segments of the tree that were built from a scan of the index. Rows is the number of
	// rows of that scan.
	Rebuilt int   `json:"rebuilt"`
	Rows    int64 `json:"rows"`
	// Unknown is the number of segments that were not compared. Run finds their differences, or RunTree once they are
	// built.
	Unknown int `json:"unknown"`
	// Rounds is how often the tree and the source were compared, and Found the number of keys in which they differed. Lost
	// is how many of these agreed in the index: only the tree had missed a confirmation, as after a crash of the sender.
	Rounds int   `json:"rounds"`
	Found  int64 `json:"found"`
	Lost   int64 `json:"lost"`
	// More reports that not all differences were checked. Run finds the others, and so may the next RunTree.
	More bool `json:"more,omitempty"`
}

// RunTree finds what a sender has lost; it scans the index only to build due segments of the tree. The tree records
// what the service confirms to the sender (digesttree.Follow). RunTree compares the tree with the source, and looks
// up in the index the keys that differ, 128 a round, until no others differ, at most sixteen rounds. Then it repairs
// the keys that differ in the index, as Run does, and updates the tree. So a second call finds only what cannot be
// repaired.
//
// The source is scanned once if nothing differs, otherwise twice a round; its first rows are also scanned and looked up
// once, to check that Scan and Lookup agree. A round takes about three times Options.Pause, six seconds by default, so
// Run is faster for thousands of differences.
//
// Due segments of the tree are first built by one scan of the index, also in a dry run. Segments are due after a week,
// after a crash, and in a new tree whose Options do not declare the index empty. Between builds the tree does not show
// what other writers do to the index: use Run for that.
//
// Before the first write the guard is asked, as by Run; the size of the index is estimated from the rows of the source.
// If documents are surplus and not all differences were checked, the error is ErrMore and nothing is written. Surplus
// documents are deleted at the end. Options.Splits and Hints are not used, and Store only for the counts of the guard.
// Other errors are those of Run and of the tree.
//
// Sender must be the sender that the tree follows.
func (r *Repairer) RunTree(ctx context.Context, tree *digesttree.Tree) (Report, error) {
	return r.runTree(ctx, tree, true)
}

// runTree is RunTree. It builds due segments only if build is set.
func (r *Repairer) runTree(ctx context.Context, tree *digesttree.Tree, build bool) (Report, error) {
	began, ctx := time.Now(), wholeindex.Require(ctx)
	p, err := r.newPass()
	if tree == nil {
		err = errors.Join(errors.New("the tree is nil: use that of digesttree.Open"), err)
	}
	if err != nil {
		return Report{}, fmt.Errorf("repair: nothing was compared: %w", err)
	}
	t := treeRun{pass: p, tree: tree, total: Report{Began: began, DryRun: p.DryRun, Tree: new(TreeReport)}, seen: make(map[string]bool)}
	defer t.close()
	err = t.run(ctx, build)
	t.total.Took, t.total.Complete = time.Since(began), err == nil
	p.meters.tree(&t.total, err)
	if err != nil {
		err = fmt.Errorf("repair: %w", err)
	}
	return t.total, err
}

// treeRun is a RunTree under way.
type treeRun struct {
	*pass
	tree    *digesttree.Tree
	total   Report
	seen    map[string]bool // keys already checked
	whole   bool            // all differences were checked
	rows    int64           // of the source
	surplus []string
	looks   []*treeLook // looks with something to write
}

// treeLook is a set of checked keys. The tree is updated when they need no more writes.
type treeLook struct {
	tell    func(keys []string, rows []models.Row) (told int)
	end     func()
	act     []difference // to repair, if the guard agrees
	surplus []string     // to delete then
}

func (r *treeRun) close() {
	for _, l := range r.looks {
		l.end()
	}
}

func (r *treeRun) run(ctx context.Context, build bool) error {
	if build && r.tree.Stats().Due > 0 {
		var err error
		r.total.Tree.Rebuilt, r.total.Tree.Rows, err = r.tree.Rebuild(ctx, slotted{r.index, r.pass}.Scan(ctx, "", ""), r.pause())
		if err != nil {
			return err
		}
	}
	if err := r.rounds(ctx); err != nil {
		return err
	}
	r.total.Tree.More = !r.whole
	charged, err := r.allow(ctx)
	if r.DryRun && (refused(err) || errors.Is(err, ErrMore)) {
		r.total.Refused, err = err.Error(), nil
	}
	if err != nil || r.DryRun {
		return err
	}
	defer r.refund(ctx, charged) // the next run counts its own changes
	return r.write(ctx, charged)
}

// allow asks the guard about everything found, before the first write. A broken source shows by its deletes, so if
// these are refused, or their number is unknown, its rows are not written either.
func (r *treeRun) allow(ctx context.Context) (c changes, err error) {
	c.deletes = int64(len(r.surplus))
	for _, l := range r.looks {
		c.overwrites += overwritten(l.act)
	}
	switch {
	case r.AllowDeletes < 0:
		c.deletes = 0
	case c.deletes == 0:
	case !r.whole:
		return changes{}, fmt.Errorf("%w: at least %d documents are surplus; nothing was written", ErrMore, c.deletes)
	case r.rows == 0:
		return changes{}, fmt.Errorf("%w: none of %d documents was deleted", ErrNoRows, c.deletes)
	}
	if err := r.charge(ctx, c, r.indexRows, true); err != nil {
		return changes{}, err
	}
	return c, nil
}

// indexRows estimates the documents of the index: the rows of the source in the compared segments, assuming evenly
// spread keys, without the missing documents, plus the surplus ones.
func (r *treeRun) indexRows(*spent) int64 {
	n, unknown := int64(r.tree.Stats().Segments), int64(r.total.Tree.Unknown)
	return max(0, r.rows*(n-unknown)/n-r.total.Missing) + int64(len(r.surplus))
}

// rounds compares until no unchecked key differs. Nothing is written.
func (r *treeRun) rounds(ctx context.Context) error {
	found := r.total.Tree
	for found.Rounds < treeRounds {
		looked := &askedSource{Source: countedSource{r.source, &r.rows}}
		d, err := r.tree.Compare(ctx, looked, r.Pause)
		if err == nil { // Compare confirms by Lookup and so drops keys that only Scan has
			err = r.contradiction(ctx, looked.keys)
		}
		if err != nil {
			return err
		}
		found.Rounds++
		found.Unknown = d.Unknown
		r.whole = r.whole || !d.More
		var keys []string
		for _, k := range d.Keys {
			if r.seen[k.Key] { // each round continues behind the previous one, so this one wrapped around
				r.whole = true
				continue
			}
			r.seen[k.Key] = true
			keys = append(keys, k.Key)
		}
		found.Found += int64(len(keys))
		switch {
		case len(keys) > 0:
			if err := r.keys(ctx, keys); err != nil {
				return err
			}
		case r.whole:
			return nil
		}
	}
	return nil
}

// keys looks up keys in both sides, notes those to repair or delete, and updates the tree for the others.
func (r *treeRun) keys(ctx context.Context, keys []string) error {
	l := new(treeLook)
	l.tell, l.end = r.tree.Look(keys...)
	r.looks = append(r.looks, l)
	source, index, err := r.look(ctx, keys)
	if err != nil {
		return err
	}
	found := differencesOf(keys, source, index)
	r.total.Tree.Lost += int64(len(keys) - len(found))
	r.meters.found(len(keys)-len(found), len(found))
	t := newTask(page{})
	if err := sleep.For(ctx, r.pause()); err != nil { // the tree needs the pause too: the index then shows what was confirmed before Look
		return err
	}
	confirmed, err := r.confirm(ctx, t, found)
	l.act = r.repairable(t, confirmed)
	l.surplus = t.surplus
	r.surplus = append(r.surplus, l.surplus...)
	r.add(t)
	if err != nil || r.DryRun {
		return err
	}
	wanted := append(keysIn(l.act), l.surplus...)
	if err := r.tell(ctx, l, slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(wanted, key) })); err != nil {
		return err
	}
	if len(wanted) == 0 {
		l.end()
		r.looks = r.looks[:len(r.looks)-1]
	}
	return nil
}

// write repairs the differences that remain, deletes surplus documents, and updates the tree.
func (r *treeRun) write(ctx context.Context, charged changes) error {
	for _, l := range r.looks {
		t := newTask(page{})
		act, err := r.confirm(ctx, newTask(page{}), l.act) // already counted
		if err == nil {
			err = errors.Join(r.repair(ctx, t, act, false), r.verify(ctx, t, false))
		}
		r.add(t)
		r.learn(t.rejected)
		r.surplus, l.surplus = append(r.surplus, t.surplus...), append(l.surplus, t.surplus...)
		if err != nil {
			return err
		}
		if err := r.tell(ctx, l, slices.DeleteFunc(keysIn(l.act), func(key string) bool { return slices.Contains(l.surplus, key) })); err != nil {
			return err
		}
	}
	if len(r.surplus) == 0 || r.AllowDeletes < 0 {
		return nil
	}
	if late := int64(len(r.surplus)) - charged.deletes; late > 0 { // rows of the source deleted since allow
		if !r.whole {
			return fmt.Errorf("%w: none of %d surplus documents was deleted", ErrMore, len(r.surplus))
		}
		if err := r.charge(ctx, changes{deletes: late}, r.indexRows, false); err != nil {
			return err
		}
	}
	err := r.remove(ctx, r.surplus, &r.total)
	for _, l := range r.looks {
		err = errors.Join(err, r.tell(ctx, l, l.surplus))
	}
	return err
}

// add adds the counts of a task.
func (r *treeRun) add(t *task) {
	done := t.snapshot()
	r.meters.add(&done)
	r.total.plus(&done)
}

// Updates the tree from the index, for those of the keys without pending writes.
func (r *treeRun) tell(ctx context.Context, l *treeLook, all []string) error {
	pending, err := r.pending(ctx, all)
	if err != nil {
		return err
	}
	var keys []string
	for i, key := range all {
		if !pending[i] {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return r.slot(ctx, func(ctx context.Context) error {
		rows, err := r.index.Lookup(ctx, keys)
		if err != nil {
			return fmt.Errorf("look up keys in the index: %w", err)
		}
		l.tell(keys, rows)
		return nil
	})
}

// askedSource records which keys are looked up.
type askedSource struct {
	Source
	keys []string
}

// Lookup implements Index.
func (a *askedSource) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	a.keys = append(a.keys, keys...)
	return a.Source.Lookup(ctx, keys)
}

// countedSource records the number of visible rows of its last complete scan.
type countedSource struct {
	Source
	rows *int64
}

// Scan implements Index.
func (c countedSource) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		n := int64(0)
		for row, err := range c.Source.Scan(ctx, after, through) {
			if err == nil && !row.Hidden {
				n++
			}
			if !yield(row, err) {
				return
			}
		}
		*c.rows = n
	}
}
