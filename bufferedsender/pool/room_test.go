package pool

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

// roomFor returns a pool with room for the given actions, in floors of 10, and any number of bytes.
func roomFor(t testing.TB, actions int) *Pool {
	return newPool(t, Options{BufferedActions: actions, FloorActions: 10})
}

// guest is a member that wants room, and records its callbacks.
type guest struct {
	*Room
	t     testing.TB
	class models.Class
	woken int // without calls that ask it to return room

	pressed atomic.Bool
	told    bool // whether a call came
}

// newGuest returns a member that has already returned what it borrowed.
func newGuest(t testing.TB, p *Pool, name string, class models.Class) *guest {
	t.Helper()
	g := newStranger(t, p, name, class)
	g.returned = trusted
	return g
}

// newStranger returns a member that has returned nothing yet.
func newStranger(t testing.TB, p *Pool, name string, class models.Class) *guest {
	t.Helper()
	g := &guest{t: t, class: class}
	g.Room = join(t, p, name).Room(func() {
		if pressed := g.pressed.Load(); pressed != g.told {
			if g.told = pressed; pressed {
				return
			}
		}
		g.woken++
	}, &g.pressed)
	return g
}

var trusted = size{1 << 40, 1 << 40}

// takes takes room for as many of n actions as possible, and returns their number.
func (g *guest) takes(n int) int {
	for i := range n {
		if !g.Take(g.class, 1, true, false) {
			return i
		}
	}
	return n
}

// returns returns n actions.
func (g *guest) returns(n int) { g.Return(n, int64(n)) }

func TestAMemberThatHasBorrowedAllLeavesAFloorForWhoComes(t *testing.T) {
	p := roomFor(t, 100)
	sick := newGuest(t, p, "sick", models.ClassAssured1)
	got := sick.takes(1000)
	assert.Equal(t, 10+75-9, got, "its floor, and three quarters of the rest without Expedited's eighth")
	for i := range 2 {
		assert.Equal(t, 10, newGuest(t, p, fmt.Sprint("new", i), models.ClassExpedited).takes(10), "a floor")
	}
	s := p.Stats()
	assert.EqualValues(t, got+20, s.GrantedActions)
	assert.Equal(t, []int{3, 1}, []int{s.Active, s.WaitingForRoom})
	assert.EqualValues(t, 100, s.BudgetActions)
	assert.Zero(t, s.BudgetBytes)
}

// One floor beyond those in use is never lent. In a fleet of five indexes with a budget of eight floors, four had
// failed before the fifth had documents.
func TestEachOfAFewMembersFindsItsFloorWhateverTheOthersHaveBorrowed(t *testing.T) {
	p := roomFor(t, 80)
	var all []*guest
	for i := range 5 {
		all = append(all, newGuest(t, p, fmt.Sprint("m", i), models.ClassExpedited))
	}
	for i, g := range all {
		got := g.takes(1000)
		assert.GreaterOrEqual(t, got, 10, "%d", i)
		if i == 0 {
			assert.Equal(t, 10+30, got, "the rest contains a floor for each member")
		}
	}
}

// A member that has returned nothing may have an index that never worked.
func TestWhoHasReturnedNothingBorrowsAnEighthOfWhatCanBeLent(t *testing.T) {
	p := roomFor(t, 1000)
	sick := newStranger(t, p, "sick", models.ClassExpedited)
	assert.Equal(t, 10+80, sick.takes(1000), "of 750")
	assert.Zero(t, p.Stats().WaitingForRoom, "the member waits for room that it holds itself")
	for i := range 20 {
		got := newStranger(t, p, fmt.Sprint("sick", i), models.ClassExpedited).takes(1000)
		assert.GreaterOrEqual(t, got, 10, "%d", i)
	}
	assert.Greater(t, newGuest(t, p, "good", models.ClassExpedited).takes(1000), 90, "the rest of the room that can be lent")
}

func TestWhoReturnsMayBorrowTwiceAsMuch(t *testing.T) {
	p := roomFor(t, 100)
	g := newStranger(t, p, "g", models.ClassAssured1)
	var got []int
	for range 4 {
		n := g.takes(1000)
		got = append(got, n)
		g.returns(n)
	}
	assert.Equal(t, []int{10, 10 + 10, 10 + 30, 10 + 66}, got)
	assert.Equal(t, 4, g.woken, "the action was refused each time")
}

func TestWhoMustNotBorrowHasToShowAgainThatItReturns(t *testing.T) {
	p := roomFor(t, 100)
	g := newGuest(t, p, "g", models.ClassExpedited)
	require.Equal(t, 30, g.takes(30))
	require.False(t, g.Take(models.ClassExpedited, 1, false, false))
	assert.Zero(t, g.takes(1), "the breaker of the member was open")
	g.returns(30)
	assert.Equal(t, 30, g.takes(30))
}

func TestOneMoreFloorIsNeverLent(t *testing.T) {
	p := roomFor(t, 100)
	for i := range 5 {
		require.Equal(t, 1, newGuest(t, p, fmt.Sprint("small", i), models.ClassExpedited).takes(1))
	}
	sick := newGuest(t, p, "sick", models.ClassExpedited)
	assert.Equal(t, 10+30, sick.takes(1000))
	assert.Equal(t, 10, newGuest(t, p, "new", models.ClassExpedited).takes(10))
}

func TestAnActiveMemberHasItsFloorWhateverOthersBorrow(t *testing.T) {
	p := roomFor(t, 60)
	active, sick := newGuest(t, p, "active", models.ClassBestEffort), newGuest(t, p, "sick", models.ClassExpedited)
	require.Equal(t, 1, active.takes(1))
	sick.takes(1000)
	require.Equal(t, 9, active.takes(9))
	require.False(t, active.Take(models.ClassBestEffort, 1, true, false), "no room is left to lend")
	require.Equal(t, 2, p.Stats().WaitingForRoom, "both")
}

func TestTheMemberThatHasHadNothingForLongestLosesItsFloorToWhoComes(t *testing.T) {
	p := roomFor(t, 30)
	var all []*guest
	for i := range 3 {
		g := newGuest(t, p, fmt.Sprint(i), models.ClassExpedited)
		require.Equal(t, 1, g.takes(1))
		all = append(all, g)
	}
	all[1].returns(1)
	all[0].returns(1)
	fresh := newGuest(t, p, "new", models.ClassExpedited)
	require.Equal(t, 10, fresh.takes(10))
	require.Equal(t, []bool{true, false, true}, []bool{all[0].active, all[1].active, all[2].active})
	require.Equal(t, 10, all[0].takes(10), "the member has kept its floor")
	require.Zero(t, all[1].takes(1), "the member counts as new again, and every member has some room")
	again := newGuest(t, p, "newer", models.ClassExpedited)
	require.Zero(t, again.takes(1))
	all[2].returns(1)
	require.Equal(t, []int{1, 0}, []int{all[1].woken, again.woken}, "first come, first served")
	require.Equal(t, 1, all[1].takes(1))
	require.Zero(t, all[2].takes(1), "a waiting member got its floor")
}

// A floor that was unused for an hour is lent, one unused for a minute is not.
func TestTheFloorOfWhoHasNothingForLongIsLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := roomFor(t, 100)
		for i := range 8 {
			g := newGuest(t, p, fmt.Sprint("idle", i), models.ClassExpedited)
			require.Equal(t, 1, g.takes(1))
			g.returns(1)
		}
		g := newGuest(t, p, "busy", models.ClassExpedited)
		require.Equal(t, 10, g.takes(100), "nine floors and one more are not lent")
		time.Sleep(idleFloor - 1)
		g.returns(1)
		require.Equal(t, 1, g.takes(100))
		time.Sleep(time.Nanosecond)
		g.returns(1)
		require.Equal(t, 26, g.takes(100), "three quarters contain floors for nine members")
	})
}

func TestWhoMustNotBorrowHasItsFloorAndGivesBackWhatItDoesNotUse(t *testing.T) {
	p := roomFor(t, 100)
	held, other := newGuest(t, p, "held", models.ClassExpedited), newGuest(t, p, "other", models.ClassExpedited)
	for i := range 11 {
		require.Equal(t, i < 10, held.Take(models.ClassExpedited, 1, false, false))
	}
	require.Zero(t, p.Stats().WaitingForRoom, "the member waits for room that it holds itself")
	held.returns(1)
	require.Equal(t, 1, held.woken)
	held.returned = trusted
	require.Equal(t, 2, held.takes(2))
	require.EqualValues(t, 20, held.loan.plus(held.floor).actions)
	require.False(t, held.Take(models.ClassExpedited, 1, false, false))
	require.EqualValues(t, 11, held.loan.plus(held.floor).actions)
	require.Equal(t, 79, other.takes(100), "all except three floors and the used room")
}

func TestALoanComesBackAsSoonAsABatchOfItIsNotNeeded(t *testing.T) {
	p := roomFor(t, 100)
	g := newGuest(t, p, "g", models.ClassExpedited)
	require.Equal(t, 35, g.takes(35))
	for _, step := range []struct{ returns, granted int }{{4, 40}, {1, 30}, {1, 30}, {9, 20}, {10, 10}, {9, 10}} {
		g.returns(step.returns)
		require.EqualValues(t, step.granted, p.Stats().GrantedActions, "%d actions are held", g.held.actions)
	}
}

func TestAnActionLargerThanTheBudgetPassesWhenThereIsNothingElse(t *testing.T) {
	p := newPool(t, Options{BufferedBytes: 100, FloorBytes: 10})
	a, b := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited)
	require.True(t, a.Take(models.ClassExpedited, 1, true, false))
	require.False(t, b.Take(models.ClassExpedited, 500, false, false))
	require.True(t, a.Take(models.ClassExpedited, 15, true, false), "an impossible request delays no other")
	a.Return(1, 15)
	a.Return(1, 1)
	require.Equal(t, 1, b.woken)
	require.False(t, a.Take(models.ClassExpedited, 1, true, false), "no room is left, and no floor")
	require.True(t, b.Take(models.ClassExpedited, 500, false, false))
	require.False(t, b.Take(models.ClassExpedited, 1, true, false))
	b.Return(1, 500)
	require.True(t, a.Take(models.ClassExpedited, 1, true, false))
	require.EqualValues(t, 20, p.Stats().GrantedBytes, "b has kept a floor")
}

func TestAnActionLargerThanAFloorIsNotPassedByLoans(t *testing.T) {
	p := newPool(t, Options{BufferedBytes: 100, FloorBytes: 10})
	a, b, c := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited), newGuest(t, p, "c", models.ClassExpedited)
	for a.Take(models.ClassExpedited, 5, true, false) {
	}
	require.False(t, b.Take(models.ClassExpedited, 50, false, false))
	require.True(t, c.Take(models.ClassExpedited, 5, true, false), "the floors are not for this member")
	require.True(t, c.Take(models.ClassExpedited, 5, true, false))
	require.False(t, c.Take(models.ClassExpedited, 5, true, false))
	for range 10 {
		if a.Return(1, 5); b.woken > 0 {
			break
		}
		require.False(t, c.Take(models.ClassExpedited, 5, true, false))
	}
	require.Equal(t, 1, b.woken)
	require.True(t, b.Take(models.ClassExpedited, 50, false, false))
}

func TestWhatMustBeAcceptedAlwaysIs(t *testing.T) {
	p := roomFor(t, 20)
	a, b := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited)
	a.takes(100)
	for range 50 {
		require.True(t, b.Take(models.ClassBestEffort, 1, false, true))
	}
	require.False(t, b.Take(models.ClassBestEffort, 1, false, false))
	b.returns(50)
	require.EqualValues(t, 20, p.Stats().GrantedActions)
}

func TestExpeditedHasTheLastEighth(t *testing.T) {
	p := roomFor(t, 1000)
	other, urgent := newGuest(t, p, "other", models.ClassAssured1), newGuest(t, p, "urgent", models.ClassExpedited)
	require.Equal(t, 10+750-93, other.takes(5000))
	require.Equal(t, 10+93, urgent.takes(5000))
	other.returns(1)
	require.Equal(t, 1, urgent.takes(1)+other.takes(1), "only one of them is granted")
}

// Room that is reserved for a member is not given to others, and is released if the member no longer wants it.
func TestWhatIsKeptForAMemberIsItsUntilItQuitsOrLeaves(t *testing.T) {
	for name, end := range map[string]func(*guest){
		"Quit":                  func(g *guest) { g.Quit() },
		"Leave":                 func(g *guest) { g.member.Leave() },
		"it returns everything": func(g *guest) { g.returns(10) },
		"taken, returned":       func(g *guest) { require.True(t, g.Take(models.ClassExpedited, 1, true, false)); g.returns(11) },
		"may not borrow":        func(g *guest) { require.False(t, g.Take(models.ClassExpedited, 1, false, false)) },
		"a Room after it":       func(g *guest) { g.member.Room(func() {}, nil); g.returns(10) },
		"Leave and Return":      func(g *guest) { g.member.Leave(); g.returns(10) },
	} {
		t.Run(name, func(t *testing.T) {
			p := roomFor(t, 100)
			a, b, c := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited), newGuest(t, p, "c", models.ClassExpedited)
			require.Equal(t, 10, b.takes(10))
			require.Equal(t, 10, c.takes(10))
			require.Equal(t, 70, a.takes(100))
			a.Quit()
			require.Zero(t, b.takes(1))
			require.Zero(t, c.takes(1))
			a.returns(10)
			require.Equal(t, []int{1, 0}, []int{b.woken, c.woken})
			a.returns(1)
			require.Equal(t, 1, a.takes(9), "a waits behind c")
			if name == "Leave" {
				end(b)
				require.Zero(t, c.woken)
				b.returns(10)
			} else {
				end(b)
			}
			require.Equal(t, 1, c.woken)
			require.Equal(t, 1, c.takes(1))
		})
	}
}

// Reserved room covers what the member waits for, whatever it returns or must accept in between.
func TestWhatIsKeptForAMemberCoversWhatItWaitsFor(t *testing.T) {
	for name, meanwhile := range map[string]func(*guest){
		"the member returns actions": func(g *guest) { g.returns(10) },
		"the member must accept an action": func(g *guest) {
			for range 10 {
				require.True(t, g.Take(models.ClassExpedited, 1, true, true))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := roomFor(t, 100)
			a, b, c := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited), newGuest(t, p, "c", models.ClassExpedited)
			d := newGuest(t, p, "d", models.ClassExpedited)
			require.Equal(t, 20, b.takes(20))
			require.Equal(t, 10, c.takes(10))
			require.Equal(t, 10, d.takes(10))
			require.Equal(t, 50, a.takes(100))
			a.Quit()
			require.Zero(t, b.takes(1))
			require.Zero(t, c.takes(1))
			require.Zero(t, d.takes(1))
			a.returns(10)
			require.Equal(t, 1, b.woken)
			meanwhile(b)
			require.Equal(t, 1, b.takes(1))
		})
	}
}

// Room that a member takes within its floor while waiting does not count towards what it waits for.
func TestWhoIsToldFindsRoomWhateverItHasTakenSince(t *testing.T) {
	p := newPool(t, Options{BufferedBytes: 1020, FloorBytes: 100})
	a, b := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited)
	require.True(t, a.Take(models.ClassExpedited, 1, true, false))
	for b.Take(models.ClassExpedited, 10, true, false) {
	}
	b.Quit()
	require.EqualValues(t, 820, b.held.bytes)
	require.False(t, a.Take(models.ClassExpedited, 100, true, false))
	require.True(t, a.Take(models.ClassExpedited, 50, true, false))
	b.Return(2, 20)
	require.Zero(t, a.woken, "20 bytes are free, and 51 are lacking")
	b.Return(10, 100)
	require.Equal(t, 1, a.woken)
	require.True(t, a.Take(models.ClassExpedited, 100, true, false))
}

func TestAFloorThatWasNeverUsedIsNobodys(t *testing.T) {
	p := roomFor(t, 10)
	a, b := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited)
	require.Equal(t, 1, a.takes(1))
	require.Zero(t, b.takes(1))
	a.returns(1)
	require.Equal(t, 1, b.woken)
	require.Zero(t, a.takes(1), "the room for b stays reserved")
	b.Quit()
	require.Equal(t, 1, a.woken, "the room for b stays reserved until b quits")
	require.Equal(t, 1, p.Stats().Active)
	a.Quit()
	require.Zero(t, p.Stats().Active)
}

func TestWhoHasSomethingIsPressedWhileOthersWaitForItsFloor(t *testing.T) {
	p := roomFor(t, 20)
	guests := make([]*guest, 5)
	for i := range guests {
		guests[i] = newGuest(t, p, fmt.Sprint(i), models.ClassExpedited)
	}
	pressed := func() (names string) {
		for i, g := range guests {
			if g.pressed.Load() {
				names += fmt.Sprint(i)
			}
		}
		return names
	}
	require.Equal(t, []int{1, 1}, []int{guests[0].takes(1), guests[1].takes(1)})
	require.Empty(t, pressed(), "each member had a floor")
	for _, g := range guests[2:] {
		require.Zero(t, g.takes(1))
	}
	require.Equal(t, "01", pressed())
	guests[0].returns(1)
	require.Equal(t, 1, guests[2].takes(1))
	require.Equal(t, "12", pressed(), "the next member is asked to return room, for those behind it")
	guests[1].returns(1)
	guests[2].returns(1)
	require.Equal(t, []int{1, 1}, []int{guests[3].takes(1), guests[4].takes(1)})
	require.Empty(t, pressed(), "no member waits")
	guests[3].returns(1)
	require.Equal(t, 1, guests[0].takes(1))
	require.Zero(t, guests[1].takes(1))
	require.Equal(t, "04", pressed())
	guests[1].Quit()
	require.Empty(t, pressed(), "busy members are pressed only while another waits")

	require.True(t, guests[1].Take(models.ClassExpedited, 1, true, true), "the action must be accepted")
	require.Empty(t, pressed())
	require.Zero(t, guests[2].takes(1))
	require.True(t, guests[3].Take(models.ClassExpedited, 1, true, true))
	require.Equal(t, "0134", pressed(), "a member with forced actions only is asked too")
}

func TestASmallerBudgetTakesNothingAway(t *testing.T) {
	p := roomFor(t, 100)
	a, b := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited)
	require.Equal(t, 50, a.takes(50))
	require.NoError(t, p.SetOptions(Options{BufferedActions: 20, FloorActions: 5}))
	require.Equal(t, 20, p.Options().BufferedActions)
	require.EqualValues(t, 50, p.Stats().GrantedActions)
	require.Zero(t, b.takes(1))
	require.Zero(t, a.takes(1))
	a.returns(40)
	require.Equal(t, 1, b.woken)
	require.Equal(t, 5, b.takes(6), "the floor has its present size")
	a.returns(10)
	require.NoError(t, p.SetOptions(Options{BufferedActions: 100, FloorActions: 20}))
	require.Equal(t, 20, a.takes(20))
	require.EqualValues(t, 20, a.floor.actions, "the new floor counts when the buffer is empty again")
	require.NoError(t, p.SetOptions(Options{}))
	require.Equal(t, 10_000, b.takes(10_000), "no limit")
	require.EqualValues(t, defaultFloorBytes, p.Options().FloorBytes)
}

func TestAMemberThatLeavesGivesBackWhatItHoldsWhenItReturns(t *testing.T) {
	p := roomFor(t, 100)
	a, b := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited)
	require.Equal(t, 25, a.takes(25))
	require.Equal(t, 1, b.takes(1))
	b.returns(1)
	b.member.Leave()
	a.member.Leave()
	require.EqualValues(t, 30, p.Stats().GrantedActions)
	require.Equal(t, 5, a.takes(10), "the granted room")
	require.True(t, a.Take(models.ClassExpedited, 1, true, true))
	a.returns(31)
	require.Zero(t, p.Stats().GrantedActions)
	require.Zero(t, a.takes(1))
	require.True(t, b.Take(models.ClassExpedited, 1, true, true))
	b.returns(1)
	require.Zero(t, p.Stats().GrantedActions)
}

func TestShutdownLeavesRoomAsItIs(t *testing.T) {
	p := roomFor(t, 20)
	a, b := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassExpedited)
	require.Equal(t, 10, a.takes(11))
	require.NoError(t, p.Shutdown(t.Context()))
	require.Equal(t, 10, b.takes(10))
	a.returns(10)
	require.Equal(t, 1, a.takes(1))
}

// While there is room for all classes, no class waits for more than ten loans of others, and no member of a class is
// passed.
func TestNoClassWaitsForMoreThanTenLoans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(&Options{BufferedActions: 10_000, FloorActions: 10})
		require.NoError(t, err)
		var order, served []*guest
		var since [classes]int
		var queues [classes][]*guest
		comes := func() {
			m, err := p.Join(fmt.Sprint("m", len(order)))
			require.NoError(t, err)
			g := &guest{class: models.Class(max(rapid.IntRange(-classes, classes-1).Draw(t, "class"), 0))}
			g.Room = m.Room(func() { served = append(served, g) }, nil)
			g.returned = trusted
			for range 10 {
				require.True(t, g.Take(g.class, 1, true, false))
			}
			order = append(order, g)
			if !g.Take(g.class, 1, true, false) {
				queues[g.class] = append(queues[g.class], g)
			}
		}
		m, err := p.Join("all")
		require.NoError(t, err)
		all := m.Room(func() {}, nil)
		all.returned = trusted
		for all.Take(models.ClassExpedited, 1, true, false) {
		}
		all.Quit()
		for range 100 {
			for range rapid.IntRange(0, 4).Draw(t, "arrivals") {
				comes()
			}
			for all.held.actions > 0 && len(served) == 0 {
				all.Return(1, 1)
			}
			for len(served) > 0 {
				g := served[0]
				served = served[1:]
				if queues[g.class][0] != g {
					t.Fatalf("a member was passed in %v", g.class)
				}
				queues[g.class] = queues[g.class][1:]
				since[g.class] = 0
				for c := range since {
					if c != int(g.class) && len(queues[c]) > 0 {
						if since[c]++; since[c] > 2*(classes-1) {
							t.Fatalf("%v has waited for %d loans", models.Class(c), since[c])
						}
					}
				}
				require.True(t, g.Take(g.class, 1, true, false))
			}
		}
	})
}

// A member that adds a few actions at a time without waiting keeps room for the rest of its batch.
func TestWhoQuitsKeepsTheRestOfABatch(t *testing.T) {
	p := roomFor(t, 100)
	a, b := newGuest(t, p, "a", models.ClassAssured1), newGuest(t, p, "b", models.ClassAssured1)
	require.Equal(t, 12, a.takes(12), "its floor of ten, and two of a batch of ten")
	a.Quit()
	require.Less(t, b.takes(1000), 1000, "all the room that is left")
	require.Equal(t, 8, a.takes(8), "the rest of the batch")
	require.Zero(t, a.woken)
	require.Zero(t, a.takes(1))
	a.Quit()
	before := b.woken
	a.returns(9)
	require.Equal(t, before, b.woken, "the batch is used")
	a.returns(1)
	require.Equal(t, before+1, b.woken)
	require.Equal(t, 10, b.takes(100), "all the room of the batch")
}

func TestAnotherRequestThatIsLessUrgentCostsAMemberNoPlace(t *testing.T) {
	p := roomFor(t, 50)
	a, b, c := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassAssured1), newGuest(t, p, "c", models.ClassAssured1)
	require.Equal(t, 10, b.takes(10))
	require.Equal(t, 10, c.takes(10))
	require.Equal(t, 10+10, a.takes(100))
	a.Quit()
	require.Zero(t, b.takes(1))
	require.Zero(t, c.takes(1))
	require.False(t, b.Take(models.ClassBestEffort, 1, true, false))
	require.False(t, b.Take(models.ClassAssured1, 1, true, false))
	require.Equal(t, models.ClassAssured1, b.lane)
	a.returns(10)
	require.Equal(t, []int{1, 0}, []int{b.woken, c.woken})
}

// All at once, for the race detector.
func TestManyWantRoomAtOnce(t *testing.T) {
	p := newPool(t, Options{BufferedActions: 100, FloorActions: 10, BufferedBytes: 10_000, FloorBytes: 1000})
	var all atomic.Int64
	var group sync.WaitGroup
	for i := range 16 {
		m := join(t, p, fmt.Sprint(i))
		group.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(i)))
			wake := make(chan struct{}, 1)
			room := m.Room(func() {
				select {
				case wake <- struct{}{}:
				default:
				}
			}, nil)
			held := 0
			for range 2000 {
				if held > 0 && r.IntN(3) == 0 {
					n := 1 + r.IntN(held)
					all.Add(int64(-n))
					room.Return(n, int64(n*10))
					held -= n
					continue
				}
				for !room.Take(models.Class(r.IntN(classes)), 10, true, false) {
					if held > 0 {
						all.Add(int64(-held))
						room.Return(held, int64(held*10))
						held = 0
					}
					if r.IntN(4) == 0 {
						room.Quit()
					} else {
						<-wake
					}
				}
				held++
				if n := all.Add(1); n > 100 {
					t.Errorf("%d actions are buffered", n)
				}
				if r.IntN(50) == 0 {
					_ = p.Stats()
				}
			}
			all.Add(int64(-held))
			room.Return(held, int64(held*10))
			room.Quit()
			m.Leave()
		})
	}
	group.Wait()
	s := p.Stats()
	require.Zero(t, s.GrantedActions+s.GrantedBytes+int64(s.Active+s.WaitingForRoom))
}

func TestRoomCostsNoAllocationAndMembersWithoutItLittle(t *testing.T) {
	require.Less(t, unsafe.Sizeof(Member{})+unsafe.Sizeof(Room{}), uintptr(2000))
	p := roomFor(t, 40)
	a, b := newGuest(t, p, "a", models.ClassExpedited), newGuest(t, p, "b", models.ClassAssured1)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		a.takes(100)
		b.takes(100)
		a.returns(int(a.held.actions))
		b.takes(1)
		b.returns(int(b.held.actions))
		a.Quit()
		b.Quit()
	}))
}

func TestSettingsOfRoomAreChecked(t *testing.T) {
	_, err := New(&Options{BufferedActions: -1, BufferedBytes: -2, FloorActions: -3, FloorBytes: -4})
	for _, want := range []string{"BufferedActions is -1 and BufferedBytes -2", "FloorActions is -3", "FloorBytes is -4"} {
		require.ErrorContains(t, err, want)
	}
	p := newPool(t, Options{BufferedActions: 5})
	require.Equal(t, 5, newGuest(t, p, "g", models.ClassExpedited).takes(10), "a floor is not more than the budget")
}

func BenchmarkRoom(b *testing.B) {
	for _, c := range []struct {
		name string
		held int // while it repeatedly takes one and returns one
	}{{"within the floor", 1}, {"within a loan", 1500}, {"at the end of the floor", 1000}, {"from nothing", 0}} {
		b.Run(c.name, func(b *testing.B) {
			p := newPool(b, Options{BufferedActions: 100_000, BufferedBytes: 1 << 30})
			g := newGuest(b, p, "g", models.ClassExpedited)
			require.Equal(b, c.held, g.takes(c.held))
			b.ReportAllocs()
			for b.Loop() {
				g.Take(models.ClassExpedited, 100, true, false)
				g.Return(1, 100)
			}
		})
	}
}
