package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

// filled returns a File with dead letters on a disk in memory.
func filled(t testing.TB, opts *FileOptions, letters ...Letter) (*disktest.Disk, *File) {
	t.Helper()
	d := disktest.New()
	f := openDisk(t, d, opts)
	require.NoError(t, f.Write(t.Context(), letters))
	return d, f
}

// kept collects the errors of Replay for dead letters that stay.
type kept map[int]error

func (k kept) note(l Letter, why error) { k[versionOf(l)] = why }

func TestReplayEmptiesWhatIsDelivered(t *testing.T) {
	dir := t.TempDir()
	f := openDir(t, dir, &FileOptions{maxFileBytes: 1000})
	require.NoError(t, f.Write(t.Context(), lettersOf(1, 10)))
	service := &service{}
	report, err := Replay(t.Context(), f, testIndex, service, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 10, Delivered: 10}, report)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, service.applied)
	require.Empty(t, namesIn(t, dir))
	require.Equal(t, Stats{Written: 10}, f.Stats())

	report, err = Replay(t.Context(), f, testIndex, service, nil)
	require.NoError(t, err)
	require.Zero(t, report)
}

// A result without a reason must not replace a reason.
func TestALetterThatIsGivenUpWithoutAnAnswerKeepsItsReason(t *testing.T) {
	for name, sink := range map[string]func(f *File, l Letter) error{
		"the sender was closed": func(f *File, l Letter) error {
			l.Status, l.Message, l.Error, l.Unsent, l.Unknown = 0, "", "sender is closed", true, true
			return f.Write(t.Context(), []Letter{l})
		},
		"nobody says anything": func(*File, Letter) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			first := letterOf("k", 1)
			d, f := filled(t, nil, first)
			var why error
			report, err := Replay(t.Context(), f, testIndex, sender(func(_ context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
				l := letterOf("k", 1)
				l.Tag = actions[0].Tag
				require.NoError(t, sink(f, l))
				return []models.IndexingResult{{Key: "k"}}, errSomeFailed
			}), &ReplayOptions{Kept: func(_ Letter, err error) { why = err }})
			require.NoError(t, err)
			require.Equal(t, Report{Sent: 1, Failed: 1}, report)
			require.EqualError(t, why, "given up again without an answer")
			first.Attempts, first.Unknown = 2, true
			require.Equal(t, []Letter{first}, readAll(t, d))
		})
	}
}

// Whichever sink the sender uses, one dead letter remains, in its old position and with the newer reason.
func TestALetterThatIsRefusedAgainStaysOnceWithTheNewerReason(t *testing.T) {
	for name, sameSink := range map[string]bool{"the sender has the File as its sink": true, "it has none": false} {
		t.Run(name, func(t *testing.T) {
			first := letterOf("k2", 2)
			first.Unknown = true
			d, f := filled(t, nil, letterOf("k1", 1), first, letterOf("k3", 3))
			service := &service{refused: map[int]bool{2: true}, message: "still no"}
			if sameSink {
				service.sink = f
			}
			k := kept{}
			for round := 1; round <= 2; round++ {
				report, err := Replay(t.Context(), f, testIndex, service, &ReplayOptions{Kept: k.note})
				require.NoError(t, err)
				want := Report{Sent: 1, Failed: 1}
				if round == 1 {
					want = Report{Sent: 3, Delivered: 2, Failed: 1}
				}
				require.Equal(t, want, report)
				var refused *RefusedError
				require.ErrorAs(t, k[2], &refused)
				require.Equal(t, models.IndexingResult{Key: "k2", StatusCode: 422, ErrorMessage: "still no"}, refused.Result)
				require.EqualError(t, refused, "refused again with status 422: still no")

				letters := readAll(t, d)
				require.Len(t, letters, 1)
				l := letters[0]
				assert.Equal(t, first.Document, l.Document)
				assert.Equal(t, first.First, l.First)
				assert.Equal(t, 422, l.Status)
				assert.Equal(t, "still no", l.Message)
				assert.True(t, l.Unknown, "the first time it may have been applied, and that stays so")
				if sameSink {
					assert.Equal(t, 1+4*round, l.Attempts)
					assert.Equal(t, "r2", l.RequestID)
					assert.Equal(t, "refused: still no", l.Error)
					assert.Equal(t, testTime.Add(2*time.Hour), l.Last)
				} else {
					assert.Equal(t, 1+round, l.Attempts)
					assert.Empty(t, l.RequestID, "of another request")
					assert.Equal(t, "refused again with status 422: still no", l.Error)
					assert.WithinDuration(t, time.Now(), l.Last, time.Minute)
				}
			}
			require.Equal(t, int64(3), f.Stats().Written, "not a new dead letter")
			service.refused = nil
			report, err := Replay(t.Context(), f, testIndex, service, nil)
			require.NoError(t, err)
			require.Equal(t, Report{Sent: 1, Delivered: 1}, report)
			require.Empty(t, d.Files())
		})
	}
}

func TestLettersOfAKeyAreSentInTheirOrderOneAtATime(t *testing.T) {
	_, f := filled(t, nil,
		letterOf("a", 1), letterOf("b", 2), letterOf("a", 3), letterOf("c", 4), letterOf("a", 5), letterOf("b", 6))
	service := &service{}
	report, err := Replay(t.Context(), f, testIndex, service, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 6, Delivered: 6}, report)
	require.Equal(t, [][]int{{1, 2, 4}, {3, 6}, {5}}, service.calls)
}

func TestALetterThatStaysHoldsThoseBehindItOfItsKey(t *testing.T) {
	why := errors.New("not this one")
	for name, c := range map[string]struct {
		options ReplayOptions
		refused map[int]bool
		reason  func(error) bool
		report  Report
	}{
		"refused again": {
			refused: map[int]bool{1: true},
			reason:  func(err error) bool { return errors.As(err, new(*RefusedError)) },
			report:  Report{Sent: 2, Delivered: 1, Failed: 1, Skipped: 2},
		},
		"not selected": {
			options: ReplayOptions{Select: func(l Letter) bool { return versionOf(l) != 1 }},
			reason:  func(err error) bool { return errors.Is(err, ErrNotSelected) },
			report:  Report{Sent: 1, Delivered: 1, Skipped: 3},
		},
		"no document": {
			options: ReplayOptions{Document: func(_ context.Context, l Letter) (json.RawMessage, error) {
				if versionOf(l) == 1 {
					return nil, why
				}
				return l.Document, nil
			}},
			reason: func(err error) bool { return errors.Is(err, why) },
			report: Report{Sent: 1, Delivered: 1, Skipped: 3},
		},
	} {
		for _, actions := range []int{1, 2, 100} {
			t.Run(fmt.Sprintf("%s, %d at a time", name, actions), func(t *testing.T) {
				d, f := filled(t, &FileOptions{maxFileBytes: 700}, letterOf("a", 1), letterOf("a", 2), letterOf("b", 3), letterOf("a", 4))
				service := &service{refused: c.refused}
				k := kept{}
				options := c.options
				options.maxActions, options.Kept = actions, k.note
				report, err := Replay(t.Context(), f, testIndex, service, &options)
				require.NoError(t, err)
				require.Equal(t, c.report, report)
				require.Equal(t, []int{3}, service.applied)
				require.Equal(t, []int{1, 2, 4}, versionsOf(readAll(t, d)))
				require.True(t, c.reason(k[1]), "%v", k[1])
				require.ErrorIs(t, k[2], ErrHeld)
				require.ErrorIs(t, k[4], ErrHeld)

				n, err := f.Discard(t.Context(), func(l Letter) bool { return versionOf(l) == 1 })
				require.NoError(t, err)
				require.Equal(t, 1, n)
				report, err = Replay(t.Context(), f, testIndex, service, &options)
				require.NoError(t, err)
				require.Equal(t, Report{Sent: 2, Delivered: 2}, report, "nothing blocks them any longer")
				require.Equal(t, []int{3, 2, 4}, service.applied)
			})
		}
	}
}

// The document may have to be fetched.
func TestTheDocumentOfALetterThatIsHeldIsNotAskedFor(t *testing.T) {
	_, f := filled(t, nil, letterOf("a", 1), letterOf("a", 2), letterOf("b", 3), letterOf("a", 4))
	var asked []int
	_, err := Replay(t.Context(), f, testIndex, &service{refused: map[int]bool{1: true}}, &ReplayOptions{
		maxActions: 1,
		Document: func(_ context.Context, l Letter) (json.RawMessage, error) {
			asked = append(asked, versionOf(l))
			return l.Document, nil
		},
	})
	require.NoError(t, err)
	require.Equal(t, []int{1, 3}, asked)
}

func TestReplayLeavesTheLettersOfOtherIndexesAlone(t *testing.T) {
	other := letterOf("a", 1)
	other.Index = "motels"
	d, f := filled(t, nil, other, letterOf("a", 2))
	service := &service{}
	report, err := Replay(t.Context(), f, testIndex, service, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 1, Delivered: 1, OtherIndexes: 1}, report)
	require.Equal(t, []int{2}, service.applied)
	require.Equal(t, []Letter{other}, readAll(t, d))
	report, err = Replay(t.Context(), f, "motels", service, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 1, Delivered: 1}, report)
}

func TestRedactedLettersAreReportedAndStayUnlessTheirDocumentIsRead(t *testing.T) {
	d, f := filled(t, &FileOptions{Redact: true}, lettersOf(1, 2)...)
	service := &service{}
	reasons := 0
	report, err := Replay(t.Context(), f, testIndex, service, &ReplayOptions{Kept: func(_ Letter, why error) {
		assert.ErrorIs(t, why, ErrRedacted)
		reasons++
	}})
	require.NoError(t, err)
	require.Equal(t, Report{Skipped: 2}, report)
	require.Equal(t, 2, reasons)
	require.Len(t, readAll(t, d), 2)

	report, err = Replay(t.Context(), f, testIndex, service, &ReplayOptions{
		Document: func(_ context.Context, l Letter) (json.RawMessage, error) { return letterOf(l.Key, 7).Document, nil },
	})
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 2, Delivered: 2}, report)
	require.Equal(t, []int{7, 7}, service.applied)
	require.Empty(t, d.Files())
}

// A delete needs only its key.
func TestARedactedDeleteIsSentWithoutADocument(t *testing.T) {
	deleted := letterOf("a", 1)
	deleted.Action = models.ActionTypeDelete
	_, f := filled(t, &FileOptions{Redact: true}, deleted)
	report, err := Replay(t.Context(), f, testIndex, sender(func(_ context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		require.Len(t, actions, 1)
		assert.Equal(t, models.RawAction{Key: "a", Type: models.ActionTypeDelete, Tag: actions[0].Tag}, actions[0])
		return make([]models.IndexingResult, 1), nil
	}), nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 1, Delivered: 1}, report)
}

// A corrected or fetched document may contain blanks, which the stored one does not.
func TestALetterIsRecognisedHoweverItsDocumentIsSpaced(t *testing.T) {
	for _, document := range []string{`{"id":"k","v":1}`, " {\n\t\"id\": \"k\",\r\n \"v\" : 1 }\n", "{ }"} {
		for _, written := range []string{document, strings.TrimSpace(document), string(compact(json.RawMessage(document)))} {
			d, f := filled(t, nil, letterOf("k", 1))
			report, err := Replay(t.Context(), f, testIndex, sender(func(c context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
				assert.Equal(t, document, string(actions[0].Document), "sent unchanged")
				l := letterOf("k", 1)
				l.Document, l.Message, l.Tag = json.RawMessage(written), "again", actions[0].Tag
				return make([]models.IndexingResult, 1), errors.Join(errSomeFailed, f.Write(c, []Letter{l}))
			}), &ReplayOptions{Document: func(context.Context, Letter) (json.RawMessage, error) { return json.RawMessage(document), nil }})
			require.NoError(t, err)
			require.Equal(t, Report{Sent: 1, Failed: 1}, report)
			letters := readAll(t, d)
			require.Len(t, letters, 1)
			require.Equal(t, "again", letters[0].Message)
			require.Equal(t, 1, versionOf(letters[0]), "the dead letter keeps its document")
		}
	}
}

func TestReplayTakesNoMoreIntoMemoryThanItMay(t *testing.T) {
	letters := lettersOf(1, 10)
	large := letterOf("large", 11)
	large.Document = json.RawMessage(`{"id":"large","v":11}` + strings.Repeat(" ", 5000))
	size := int64(len(letters[0].Document) + len(letters[0].Key) + len(letters[0].Message) + len(letters[0].Error))
	for name, c := range map[string]struct {
		options ReplayOptions
		calls   []int
	}{
		"by number":               {ReplayOptions{maxActions: 4}, []int{4, 4, 3}},
		"by size":                 {ReplayOptions{maxBytes: 3 * size}, []int{3, 3, 3, 2}},
		"less than a dead letter": {ReplayOptions{maxBytes: 1}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		"exactly enough":          {ReplayOptions{}, []int{11}},
	} {
		t.Run(name, func(t *testing.T) {
			_, f := filled(t, nil, append(letters, large)...)
			service := &service{}
			_, err := Replay(t.Context(), f, testIndex, service, &c.options)
			require.NoError(t, err)
			var calls []int
			for _, call := range service.calls {
				calls = append(calls, len(call))
			}
			require.Equal(t, c.calls, calls)
		})
	}
}

func TestLettersThatComeInMeanwhileAreLeftForTheNextReplay(t *testing.T) {
	d, f := filled(t, nil, lettersOf(1, 2)...)
	next := 3
	to := sender(func(c context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		require.NoError(t, f.Write(c, lettersOf(next, 1)))
		next++
		return make([]models.IndexingResult, len(actions)), nil
	})
	report, err := Replay(t.Context(), f, testIndex, to, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 2, Delivered: 2}, report)
	require.Equal(t, []int{3}, versionsOf(readAll(t, d)))
}

// The sender continues after Replay's context has ended. Its later failures belong to existing dead letters.
func TestAnActionThatFailsAfterReplayHasReturnedMakesNoSecondLetter(t *testing.T) {
	d, f := filled(t, nil, lettersOf(1, 4)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var tags []any
	report, err := Replay(ctx, f, testIndex, sender(func(_ context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		for _, a := range actions {
			tags = append(tags, a.Tag)
		}
		cancel()
		return []models.IndexingResult{{Succeeded: true, StatusCode: 200}, {}, {}, {}}, context.Canceled
	}), nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, Report{Sent: 4, Delivered: 1}, report)
	require.Equal(t, []int{2, 3, 4}, versionsOf(readAll(t, d)))

	late := func(v int) {
		l := letterOf(fmt.Sprintf("k%d", v), v)
		l.Message, l.Tag = "late", tags[v-1]
		require.NoError(t, f.Write(t.Context(), []Letter{l}))
	}
	message := func(v int) string {
		for _, l := range readAll(t, d) {
			if versionOf(l) == v {
				return l.Message
			}
		}
		return "gone"
	}
	late(2)
	require.Equal(t, []int{2, 3, 4}, versionsOf(readAll(t, d)))
	require.Equal(t, "late", message(2))

	n, err := f.Discard(t.Context(), func(l Letter) bool { return versionOf(l) == 2 })
	require.NoError(t, err)
	require.Equal(t, 1, n)
	late(3) // the file has been rewritten by now
	require.Equal(t, "late", message(3))
	late(2)
	require.Equal(t, "gone", message(2), "the dead letter was discarded meanwhile")

	service := &service{}
	_, err = Replay(t.Context(), f, testIndex, service, nil)
	require.NoError(t, err)
	late(4)
	require.Empty(t, readAll(t, d), "another action has delivered the document")

	require.NoError(t, openDisk(t, disktest.New(), nil).Write(t.Context(), []Letter{{Action: models.ActionTypeUpload, Tag: tags[0]}}))
	other, otherFile := filled(t, nil)
	l := letterOf("k2", 2)
	l.Tag = tags[1]
	require.NoError(t, otherFile.Write(t.Context(), []Letter{l}))
	require.Len(t, readAll(t, other), 1, "in another File it is a new dead letter")
}

func TestReplayEndsWithItsContextAndLosesNothing(t *testing.T) {
	d, f := filled(t, nil, lettersOf(1, 5)...)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	service := &service{}
	calls := 0
	report, err := Replay(ctx, f, testIndex, sender(func(c context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		if calls++; calls == 2 {
			cancel(cause) // this call succeeds anyway
		}
		return service.AddAndWait(c, actions)
	}), &ReplayOptions{maxActions: 2})
	require.ErrorIs(t, err, cause)
	require.Equal(t, Report{Sent: 4, Delivered: 4}, report)
	require.Equal(t, []int{5}, versionsOf(readAll(t, d)))

	report, err = Replay(ctx, f, testIndex, service, nil)
	require.ErrorIs(t, err, cause)
	require.Zero(t, report)
	_, err = f.Discard(ctx, func(Letter) bool { return true })
	require.ErrorIs(t, err, cause)
	require.Equal(t, []int{5}, versionsOf(readAll(t, d)))
}

// accepting returns a sender that accepts only the documents before a bad one.
func accepting(service *service, bad func(v int) bool, why error) sender {
	return func(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		for i, a := range actions {
			if bad(versionIn(a.Document)) {
				results, _ := service.AddAndWait(ctx, actions[:i])
				return results, why
			}
		}
		return service.AddAndWait(ctx, actions)
	}
}

func TestALetterThatTheSenderDoesNotAcceptDoesNotKeepTheOthersBack(t *testing.T) {
	tooLarge := errors.New("too large")
	d, f := filled(t, nil, append(lettersOf(1, 5), letterOf("k2", 6))...)
	service := &service{}
	k := kept{}
	report, err := Replay(t.Context(), f, testIndex, accepting(service, func(v int) bool { return v == 2 || v == 4 }, tooLarge), &ReplayOptions{Kept: k.note})
	require.ErrorIs(t, err, tooLarge)
	require.ErrorContains(t, err, "did not accept 2 dead letters")
	require.Equal(t, Report{Sent: 3, Delivered: 3, Skipped: 3}, report)
	require.Equal(t, []int{1, 3, 5}, service.applied)
	require.Equal(t, []int{2, 4, 6}, versionsOf(readAll(t, d)))
	require.ErrorIs(t, k[2], tooLarge)
	require.ErrorIs(t, k[4], tooLarge)
	require.ErrorIs(t, k[6], ErrHeld)
	require.Equal(t, "no", readAll(t, d)[0].Message, "the service has not refused it")
}

func TestReplayGivesUpOnASenderThatAcceptsNothing(t *testing.T) {
	closed := errors.New("closed")
	d, f := filled(t, nil, lettersOf(1, 100)...)
	calls := 0
	report, err := Replay(t.Context(), f, testIndex, sender(func(context.Context, []models.RawAction) ([]models.IndexingResult, error) {
		calls++
		return nil, closed
	}), nil)
	require.ErrorIs(t, err, closed)
	require.Equal(t, refusedInARow, calls)
	require.Equal(t, Report{Skipped: refusedInARow}, report)
	require.Len(t, readAll(t, d), 100)

	service := &service{} // which accepts every tenth
	report, err = Replay(t.Context(), f, testIndex, accepting(service, func(v int) bool { return v%10 != 0 }, closed), nil)
	require.ErrorIs(t, err, closed)
	require.Equal(t, Report{Sent: 10, Delivered: 10, Skipped: 90}, report)
}

func TestASenderThatAnswersNonsenseLosesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		results []models.IndexingResult
		err     error
		report  Report
		left    []int
	}{
		"nothing at all":          {nil, nil, Report{Skipped: 3}, []int{1, 2, 3}},
		"too few":                 {make([]models.IndexingResult, 1), nil, Report{Sent: 2, Delivered: 2, Skipped: 1}, []int{2}},
		"too many":                {make([]models.IndexingResult, 9), nil, Report{Sent: 3, Delivered: 3}, []int{}},
		"failures without status": {make([]models.IndexingResult, 3), errSomeFailed, Report{Sent: 3, Failed: 3}, []int{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			d, f := filled(t, nil, lettersOf(1, 3)...)
			report, err := Replay(t.Context(), f, testIndex, sender(func(context.Context, []models.RawAction) ([]models.IndexingResult, error) {
				return c.results, c.err
			}), nil)
			if c.report.Skipped > 0 {
				require.ErrorContains(t, err, "neither a result nor an error")
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, c.report, report)
			require.Equal(t, c.left, versionsOf(readAll(t, d)))
		})
	}
}

func TestADamagedLineIsReportedAndKept(t *testing.T) {
	d := disktest.New()
	d.Put(stemA+lettersExt, lineOf(1)+"damage\n"+lineOf(2)+`{"n":0,"action":"upload"}`+"\n"+`{"n":5,"action":"replace"}`+"\n")
	letters, errs := read(d)
	require.Equal(t, []int{1, 2}, versionsOf(letters))
	require.Len(t, errs, 3)
	var damaged *DamagedError
	require.ErrorAs(t, errs[0], &damaged)
	require.Equal(t, stemA+lettersExt, damaged.File)
	require.Equal(t, 2, damaged.Line)
	require.ErrorContains(t, errs[0], stemA+".jsonl:2 is not a dead letter: ")
	require.ErrorContains(t, errs[1], ":4 is not a dead letter: it has no number")
	require.ErrorContains(t, errs[2], `:5 is not a dead letter: there is no action "replace"`)

	f := openDisk(t, d, nil)
	var reasons []error
	report, err := Replay(t.Context(), f, testIndex, &service{refused: map[int]bool{2: true}, message: "again"}, &ReplayOptions{
		Kept: func(_ Letter, why error) { reasons = append(reasons, why) },
	})
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 2, Delivered: 1, Failed: 1, Skipped: 3}, report)
	require.Len(t, reasons, 4)
	n, err := f.Discard(t.Context(), func(Letter) bool { return true })
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, map[string]string{
		stemA + lettersExt: "damage\n" + `{"n":0,"action":"upload"}` + "\n" + `{"n":5,"action":"replace"}` + "\n",
	}, unmarked(d), "word for word")
}

func TestADiskThatFailsLosesNothingThatWasNotDelivered(t *testing.T) {
	for at := 0; ; at++ {
		d, f := filled(t, &FileOptions{maxFileBytes: 900}, lettersOf(1, 5)...)
		n := 0
		failed := ""
		d.Fail = func(op, name string) error {
			if op == "allocate" || op == "write" && strings.HasSuffix(name, markExt) {
				return nil // a mark that cannot be written is missed by no caller
			}
			if n++; n == at+1 {
				failed = op + " of " + name
				return fmt.Errorf("%s: %w", failed, disktest.ErrDisk)
			}
			return nil
		}
		service := &service{refused: map[int]bool{2: true}, message: "again"}
		report, err := Replay(t.Context(), f, testIndex, service, nil)
		d.Fail = nil
		if failed == "" {
			require.NoError(t, err)
			require.Greater(t, at, 10)
			return
		}
		require.ErrorIs(t, err, disktest.ErrDisk, failed)
		require.Equal(t, len(service.applied), report.Delivered, failed)
		for v := 1; v <= 5; v++ {
			if !slices.Contains(service.applied, v) {
				require.Contains(t, versionsOf(readAll(t, d)), v, "%s: lost", failed)
			}
		}
		service.refused = nil
		_, err = Replay(t.Context(), f, testIndex, service, nil)
		require.NoError(t, err, failed)
		require.Empty(t, readAll(t, d), failed)
	}
}

func TestAFileThatSomebodyRemovedIsForgotten(t *testing.T) {
	dir := t.TempDir()
	f := openDir(t, dir, &FileOptions{maxFileBytes: 1})
	require.NoError(t, f.Write(t.Context(), lettersOf(1, 3)))
	require.NoError(t, os.Remove(filepath.Join(dir, namesIn(t, dir)[1])))
	service := &service{}
	report, err := Replay(t.Context(), f, testIndex, service, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 2, Delivered: 2, Skipped: 1}, report)
	require.Equal(t, Stats{Written: 3}, f.Stats())
}

func TestAPanicInAFunctionOfTheCallerEndsTheReplayOnly(t *testing.T) {
	_, f := filled(t, nil, lettersOf(1, 3)...)
	require.PanicsWithValue(t, "select", func() {
		_, _ = Replay(t.Context(), f, testIndex, &service{}, &ReplayOptions{Select: func(Letter) bool { panic("select") }})
	})
	require.PanicsWithValue(t, "give", func() {
		_, _ = f.Discard(t.Context(), func(Letter) bool { panic("give") })
	})
	report, err := Replay(t.Context(), f, testIndex, &service{}, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 3, Delivered: 3}, report)
}

func TestDiscardRemovesWhatItIsGiven(t *testing.T) {
	d, f := filled(t, &FileOptions{maxFileBytes: 100_000}, lettersOf(1, 3*discardEntry)...)
	n, err := f.Discard(t.Context(), func(l Letter) bool { return versionOf(l)%5 != 0 })
	require.NoError(t, err)
	require.Equal(t, 3*discardEntry*4/5, n)
	letters := readAll(t, d)
	require.Len(t, letters, 3*discardEntry/5)
	for i, l := range letters {
		require.Equal(t, 5*(i+1), versionOf(l))
	}
	var total int64
	for name, content := range unmarked(d) {
		require.True(t, strings.HasSuffix(name, lettersExt), name)
		total += int64(len(content))
	}
	require.Equal(t, total, f.Stats().Bytes)
}

func TestALetterIsFoundUnderItsNumberAfterManyRewrites(t *testing.T) {
	d, f := filled(t, nil, lettersOf(1, 20)...)
	for v := 20; v > 0; v-- {
		service := &service{refused: map[int]bool{1: true}, message: fmt.Sprint("without ", v)}
		_, err := Replay(t.Context(), f, testIndex, service, &ReplayOptions{Select: func(l Letter) bool {
			return versionOf(l) == v || versionOf(l) == 1
		}})
		require.NoError(t, err)
		letters := readAll(t, d)
		require.Len(t, letters, max(v-1, 1))
		require.Equal(t, fmt.Sprint("without ", v), letters[0].Message)
	}
}
