package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestNothingSecretOrPrivateIsLogged(t *testing.T) {
	const content, key = "ZXQcontent", "ZXQkey"
	quoting := func(status int) sendertest.Answer {
		return func(n int, x *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			if n > 40 {
				return sendertest.Reply(req, 401, sendertest.ErrorBody("enough of "+content)), nil
			}
			return sendertest.Reply(req, status, sendertest.ErrorBody(fmt.Sprintf("Cannot convert the literal '%s' of document '%s'.", content, x.Keys[0]))), nil
		}
	}
	for name, arrange := range map[string]func(r *sendertest.Rig){
		"when all goes well":              func(r *sendertest.Rig) {},
		"when requests are refused":       func(r *sendertest.Rig) { r.Respond(quoting(400)) },
		"when requests are too large":     func(r *sendertest.Rig) { r.Respond(quoting(413)) },
		"when the key is wrong":           func(r *sendertest.Rig) { r.Respond(quoting(401)) },
		"when the role is missing":        func(r *sendertest.Rig) { r.Respond(quoting(403)) },
		"when the index is missing":       func(r *sendertest.Rig) { r.Respond(quoting(404)) },
		"when the service is busy":        func(r *sendertest.Rig) { r.Respond(quoting(503)) },
		"when the service is broken":      func(r *sendertest.Rig) { r.Respond(quoting(500)) },
		"when a proxy echoes the request": func(r *sendertest.Rig) { r.Respond(sendertest.Always(502, "<html>"+content+" "+key)) },
		"when replies are malformed":      func(r *sendertest.Rig) { r.Respond(sendertest.Always(200, `{"value":"`+content+key+`"`)) },
		"when results have no key":        func(r *sendertest.Rig) { r.Faults(searchtest.Fault{Results: searchtest.ResultsUnknownKey}) },
		"when results are missing":        func(r *sendertest.Rig) { r.Faults(searchtest.Fault{Results: searchtest.ResultsMissing}) },
		"when single documents are refused": func(r *sendertest.Rig) {
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400, Message: content + key}}})
		},
		"when single documents are refused at last": func(r *sendertest.Rig) {
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 409, Message: content + key}}})
		},
		"when connections break":           func(r *sendertest.Rig) { r.Faults(searchtest.Fault{Cut: searchtest.CutAfterCommit}) },
		"when the service does not answer": func(r *sendertest.Rig) { r.Respond(sendertest.Hang) },
	} {
		for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
			t.Run(fmt.Sprint(name, ", at level ", level), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					log := &sendertest.Buffer{}
					r := sendertest.New(t, &sendertest.Options{
						Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBatchBytes: 1000},
						Retry:  retry.Options{MaxRetries: 1}, RequestTimeout: time.Second,
						Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level, AddSource: true})),
						Handlers: sendertest.Handlers{
							BatchCompleted:  func(context.Context, *events.Batch) { panic("in BatchCompleted") },
							ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { panic("in ActionCompleted") },
							ActionFailed:    func(context.Context, *events.ActionFailed[sendertest.Hotel]) { panic("in ActionFailed") },
						},
					})
					arrange(r)
					for i := range 7 {
						r.Upload(sendertest.Hotel{ID: fmt.Sprint(key, i), Name: content})
					}
					assert.Error(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "_" + key, Name: content}))
					assert.Error(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: key, Name: strings.Repeat(content, 1000)}))
					require.NoError(t, r.Sender.IndexDocuments(t.Context(), models.DeleteAction(sendertest.Hotel{ID: key})))
					_ = r.Flush()
					r.Upload(sendertest.Hotel{ID: key + "-late", Name: content})
					_ = r.Sender.Close(sendertest.Within(t, 300*time.Millisecond))
					text := log.String()
					assert.NotEmpty(t, text)
					for what, secret := range map[string]string{"document contents": content, "an api key": searchtest.AdminKey, "document keys": key} {
						if level == slog.LevelDebug && secret != searchtest.AdminKey {
							// Keys and the service's messages about documents are allowed at debug level; the
							// documents are not.
							secret = `"name":"` + content
						}
						for line := range strings.Lines(text) {
							if strings.Contains(line, secret) {
								assert.Fail(t, what+" in the log", line)
								break
							}
						}
					}
				})
			})
		}
	}
}

// The log gives the reason of a refusal as far as that is possible without content of the document.
func TestTheLogNamesTheTypeThatAValueDoesNotHave(t *testing.T) {
	for _, whole := range []bool{true, false} {
		t.Run(fmt.Sprintf("whole request %v", whole), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const message = "Cannot convert the literal 'secret' to the expected type 'Edm.Int32'."
				lines := &sendertest.Buffer{}
				opts := sendertest.WithBreaker(t)
				opts.Logger = slog.New(slog.NewTextHandler(lines, nil)) // from Info
				r := sendertest.New(t, opts)
				if whole {
					r.Respond(sendertest.Always(400, sendertest.ErrorBody(message)))
				} else {
					r.Respond(sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
						rs[0]["status"], rs[0]["statusCode"], rs[0]["errorMessage"] = false, 400, message
						return rs
					}))
				}
				r.Upload(sendertest.Hotel{ID: "k"})
				sendertest.FlushFailures(t, r.Flush())
				assert.Contains(t, lines.String(), "a value is not of the type Edm.Int32")
				assert.NotContains(t, lines.String(), "secret")
			})
		})
	}
}

// An address that does not answer: no request has failed yet.
func TestAServiceThatDoesNotAnswerIsLoggedAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log sendertest.Buffer
		opts := sendertest.WithBreaker(t)
		opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
		r := sendertest.New(t, opts)
		r.Respond(sendertest.First(1, sendertest.Hang))
		r.Upload(sendertest.Hotels("k", 3)...)
		flushed := sendertest.Later(r.Flush)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		assert.NotContains(t, log.String(), "has not answered")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Contains(t, log.String(), "service has not answered")
		require.NoError(t, <-flushed)
	})
}
