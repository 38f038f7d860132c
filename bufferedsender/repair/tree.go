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

// treeRounds is how often RunTree compares at the most. Beyond its 2048 keys a pass is cheaper.
const treeRounds = 16

// TreeReport is what RunTree has found.
type TreeReport struct {
	// Rebuilt is how many segments of the tree were due and built from a scan of the index, which had Rows.
	Rebuilt int   `json:"rebuilt"`
	Rows    int64 `json:"rows"`
	// Unknown is how many segments were not compared: what they have is found by Run, or when they have been built.
	Unknown int `json:"unknown"`
	// Rounds is how often the tree and the source were compared, Found in how many keys they differed, and Lost of
	// how many of these only the tree did not know what the index has, as after a crash of the sender.
	Rounds int   `json:"rounds"`
	Found  int64 `json:"found"`
	Lost   int64 `json:"lost"`
	// More says that there are more differences than were looked at: Run finds the others, or the next RunTree.
	More bool `json:"more,omitempty"`
}

// RunTree finds what a sender has lost without reading the index: it compares the tree, which is told what the
// service confirms to the sender (digesttree.Follow), with the source, and looks into the index for the keys that
// differ, until nothing else does, or for sixteen rounds of 128 keys. Then it repairs those that differ there, as Run
// does, and tells the tree what the index has. So a second call finds nothing but what cannot be repaired.
// The source is scanned once if nothing differs, and twice a round otherwise; and its first rows are scanned and
// looked up once, to see that Scan and Lookup know the same. A round takes some three times Options.Pause, six
// seconds for 128 keys by default: thousands of differences are repaired faster by Run.
//
// Segments of the tree that are due are built first, all of them, by one scan of the index: that is so with a new
// tree, unless its Options say that the index is empty, a week later, and after a crash. A dry run does that too, and
// tells the tree nothing else. Until then nothing is known of what others do to the index: that is what Run is for.
//
// Nothing is written unless the guard of Run agrees, which goes by the rows of the source there, and, if there are
// surplus documents, all differences in what was compared were seen: otherwise the error is ErrMore. Surplus documents
// are deleted at the end. Of Options what is about ranges, Store and Hints is not used. The other errors are those of
// Run, and those of the tree.
//
// The Sender is the one that tells the tree.
func (r *Repairer) RunTree(ctx context.Context, tree *digesttree.Tree) (Report, error) {
	return r.runTree(ctx, tree, true)
}

// runTree is RunTree, which builds what is due if build is set.
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
	seen    map[string]bool // keys that were looked at
	whole   bool            // all that differs was
	rows    int64           // of the source
	surplus []string
	looks   []*treeLook // those of which something is to be written
}

// treeLook is some keys that were looked at, of which the tree is told when nothing more is written of them.
type treeLook struct {
	tell    func(keys []string, rows []models.Row) (told int)
	end     func()
	act     []difference // to be repaired, if the guard agrees
	surplus []string     // to be deleted then
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
	defer r.refund(ctx, charged) // of no use to another run, which compares anew
	return r.write(ctx, charged)
}

// allow asks the guard for all that was found, before the first write. A source that lies shows by its deletes, so what
// it has is not written either, if they are refused, or nobody knows how many there are.
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
	if err := r.charge(ctx, c, r.indexRows); err != nil {
		return changes{}, err
	}
	return c, nil
}

// indexRows is as many documents as the source has where the tree and it were compared, keys being spread evenly, less
// those that the index lacks, and those that are surplus.
func (r *treeRun) indexRows(*spent) int64 {
	n, unknown := int64(r.tree.Stats().Segments), int64(r.total.Tree.Unknown)
	return max(0, r.rows*(n-unknown)/n-r.total.Missing) + int64(len(r.surplus))
}

// rounds compares until there is nothing that was not looked at. Nothing is written.
func (r *treeRun) rounds(ctx context.Context) error {
	found := r.total.Tree
	for found.Rounds < treeRounds {
		looked := &askedSource{Source: countedSource{r.source, &r.rows}}
		d, err := r.tree.Compare(ctx, looked, r.Pause)
		if err == nil { // Compare asks Lookup at last, so nothing of what only Scan says is found
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
			if r.seen[k.Key] { // each round begins behind the one before: it has come round
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

// keys looks at some keys in both sides, notes what is to be written, and tells the tree what the index has of the
// others.
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
	if err := sleep.For(ctx, r.pause()); err != nil { // also for the tree: what was confirmed before the Look is seen from here on
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

// write repairs what was found and is still so, deletes what is surplus, and tells the tree what the index has then.
func (r *treeRun) write(ctx context.Context, charged changes) error {
	for _, l := range r.looks {
		t := newTask(page{})
		act, err := r.confirm(ctx, newTask(page{}), l.act) // counted before
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
	if late := int64(len(r.surplus)) - charged.deletes; late > 0 { // rows of the source that have gone since
		if !r.whole {
			return fmt.Errorf("%w: none of %d surplus documents was deleted", ErrMore, len(r.surplus))
		}
		if err := r.charge(ctx, changes{deletes: late}, r.indexRows); err != nil {
			return err
		}
	}
	err := r.remove(ctx, r.surplus, &r.total)
	for _, l := range r.looks {
		err = errors.Join(err, r.tell(ctx, l, l.surplus))
	}
	return err
}

// add counts what became of some keys.
func (r *treeRun) add(t *task) {
	done := t.snapshot()
	r.meters.add(&done)
	r.total.plus(&done)
}

// tell tells the tree what the index has of those of the keys of which nothing is on its way.
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

// askedSource notes which keys were looked up.
type askedSource struct {
	Source
	keys []string
}

// Lookup implements Index.
func (a *askedSource) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	a.keys = append(a.keys, keys...)
	return a.Source.Lookup(ctx, keys)
}

// countedSource notes how many rows its last scan has had.
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
