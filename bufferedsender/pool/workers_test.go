package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

// These tests cover faults of worker pools in other systems: a worker crashes, and its effect on the others.

// deaths are the ways in which a job does not return.
var deaths = map[string]func(){"panic": func() { panic("crash") }, "Goexit": runtime.Goexit}

// works runs a job on a new goroutine and returns its end: nil, a *PanicError, or errDied.
func works(m *Member, c models.Class, takes time.Duration, death func()) <-chan error {
	ended := make(chan error, 1)
	go func() {
		err := errDied
		defer func() { ended <- err }()
		err = m.Do(context.Background(), c, func(context.Context) error {
			time.Sleep(takes)
			if death != nil {
				death()
			}
			return nil
		})
	}()
	return ended
}

// errDied marks a goroutine to which Do has not returned.
var errDied = errors.New("died")

// survived checks that a job ended in the chosen way.
func survived(t require.TestingT, err error, death string) {
	crash := (*PanicError)(nil)
	switch death {
	case "":
		require.NoError(t, err)
	case "panic":
		require.ErrorAs(t, err, &crash)
	default:
		require.ErrorIs(t, err, errDied)
	}
}

// The only worker crashes, with and without others waiting: later and waiting jobs run at once. (In Riak's pool
// nothing was dequeued after a worker had crashed while the queue was empty.)
func TestACrashedLastWorkerIsReplaced(t *testing.T) {
	for name, death := range deaths {
		for _, waiting := range []int{0, 1, 5} {
			t.Run(fmt.Sprint(name, " with ", waiting, " in line"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPool(t, slots(1, 1))
					m := join(t, p, "m")
					crashed := works(m, models.ClassBestEffort, time.Second, death)
					synctest.Wait()
					var line []<-chan error
					for range waiting {
						line = append(line, works(m, models.ClassBestEffort, time.Second, nil))
					}
					synctest.Wait()
					survived(t, <-crashed, name)
					began := time.Now()
					for _, ended := range line {
						require.NoError(t, <-ended)
					}
					require.Equal(t, time.Duration(waiting)*time.Second, time.Since(began))
					require.NoError(t, <-works(m, models.ClassBestEffort, time.Second, nil))
					require.Equal(t, time.Duration(waiting+1)*time.Second, time.Since(began), "the job does not wait")
					c := p.Stats().Classes[models.ClassBestEffort]
					require.Equal(t, []int{0, 0}, []int{c.Waiting, c.InUse})
				})
			})
		}
	}
}

// Three workers have ten jobs each, and every other job crashes, in a class of five slots and in Expedited. Each job
// has its own end, and all take no longer than the slots require.
func TestHalfOfTheWorkCrashesAndTheOtherHalfIsDone(t *testing.T) {
	for class, size := range map[models.Class]int{models.ClassAssured1: 5, models.ClassExpedited: 3} {
		for name, death := range deaths {
			t.Run(fmt.Sprint(class, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPool(t, slots(3, 5))
					began := time.Now()
					var all sync.WaitGroup
					for worker := range 3 {
						m := join(t, p, fmt.Sprint(worker))
						for job := range 10 {
							dies := ""
							if job%2 == 1 {
								dies = name
							}
							all.Go(func() {
								var how func()
								if dies != "" {
									how = death
								}
								survived(t, <-works(m, class, time.Second, how), dies)
							})
						}
					}
					all.Wait()
					require.Equal(t, time.Duration(30/size)*time.Second, time.Since(began))
					c := p.Stats().Classes[class]
					require.Equal(t, []int64{30, 30}, []int64{c.Granted, c.Ended})
					require.Equal(t, 30*time.Second, c.WorkTime)
				})
			})
		}
	}
}

// Any list of jobs, some of them crashing, in a pool of any size: each job has one end, and the pool is unchanged.
func TestAnyWorkWithCrashesInAnyPoolEnds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		o := slots(rapid.IntRange(1, 3).Draw(r, "expedited"), rapid.IntRange(1, 4).Draw(r, "shared"))
		type job struct {
			class models.Class
			takes time.Duration
			dies  string
		}
		jobs := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) job {
			return job{
				models.Class(rapid.IntRange(0, classes-1).Draw(r, "class")), time.Duration(rapid.IntRange(0, 3).Draw(r, "takes")) * time.Second,
				rapid.SampledFrom([]string{"", "", "panic", "Goexit"}).Draw(r, "dies"),
			}
		}), 0, 30).Draw(r, "jobs")
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, o)
			m := join(t, p, "m")
			var ends []<-chan error
			for _, j := range jobs {
				ends = append(ends, works(m, j.class, j.takes, deaths[j.dies]))
			}
			for i, ended := range ends {
				survived(t, <-ended, jobs[i].dies)
			}
			var granted, ended int64
			for _, c := range p.Stats().Classes {
				granted, ended = granted+c.Granted, ended+c.Ended
				require.Equal(t, []int{0, 0}, []int{c.Waiting, c.InUse})
			}
			require.Equal(t, []int64{int64(len(jobs)), int64(len(jobs))}, []int64{granted, ended})
			require.NoError(t, p.Shutdown(t.Context()))
		})
	})
}

// A job counts like the requests of others: it waits for one turn of each other member.
func TestWorkBesideSmallRequestsWaitsForOneTurnOfEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const members, takes = 20, 100 * time.Millisecond
		p := inTime(t, 1, 1)
		ctx, stop := context.WithCancel(t.Context())
		for i := range members {
			m, woken := join(t, p, fmt.Sprint(i)), make(chan struct{}, 1)
			seat := m.Seat(func() { woken <- struct{}{} })
			go func() {
				for ctx.Err() == nil {
					slot, ok, _ := seat.Ask(models.ClassAssured1, 1000)
					if !ok {
						<-woken
						continue
					}
					time.Sleep(takes)
					slot.Release(true)
				}
				seat.Cancel()
			}()
		}
		worker := join(t, p, "worker")
		time.Sleep(time.Minute)
		for range 3 {
			began := time.Now()
			require.NoError(t, worker.Do(ctx, models.ClassAssured1, func(context.Context) error { return nil }))
			require.LessOrEqual(t, time.Since(began), (members+2)*takes)
		}
		stop()
		time.Sleep(time.Minute)
	})
}
