package bufferedsender_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestG16NothingSecretOrPrivateInLogs(t *testing.T) {
	const content, key = "ZXQcontent", "ZXQkey"
	quoting := func(status int) answer {
		return func(n int, x *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			if n > 40 {
				return reply(req, 401, refusal("enough of "+content)), nil
			}
			return reply(req, status, refusal(fmt.Sprintf("Cannot convert the literal '%s' of document '%s'.", content, x.keys[0]))), nil
		}
	}
	for name, arrange := range map[string]func(r *rig){
		"when all goes well":              func(r *rig) {},
		"when requests are refused":       func(r *rig) { r.respond(quoting(400)) },
		"when requests are too large":     func(r *rig) { r.respond(quoting(413)) },
		"when the key is wrong":           func(r *rig) { r.respond(quoting(401)) },
		"when the role is missing":        func(r *rig) { r.respond(quoting(403)) },
		"when the index is missing":       func(r *rig) { r.respond(quoting(404)) },
		"when the service is busy":        func(r *rig) { r.respond(quoting(503)) },
		"when the service is broken":      func(r *rig) { r.respond(quoting(500)) },
		"when a proxy echoes the request": func(r *rig) { r.respond(always(502, "<html>"+content+" "+key)) },
		"when replies are rubbish":        func(r *rig) { r.respond(always(200, `{"value":"`+content+key+`"`)) },
		"when results name nobody":        func(r *rig) { r.faults(searchtest.Fault{Results: searchtest.ResultsUnknownKey}) },
		"when results are missing":        func(r *rig) { r.faults(searchtest.Fault{Results: searchtest.ResultsMissing}) },
		"when single documents are refused": func(r *rig) {
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 400, Message: content + key}}})
		},
		"when single documents are refused at last": func(r *rig) {
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Status: 409, Message: content + key}}})
		},
		"when connections break": func(r *rig) { r.faults(searchtest.Fault{Cut: searchtest.CutAfterCommit}) },
		"when nobody answers":    func(r *rig) { r.respond(hang) },
	} {
		for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
			t.Run(fmt.Sprint(name, ", at level ", level), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					log := &lockedBuffer{}
					r := newRig(t, &hotelOptions{
						Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBatchBytes: 1000},
						Retry:  retry.Options{MaxRetries: 1}, RequestTimeout: time.Second,
						Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level, AddSource: true})),
						Handlers: hotelHandlers{
							BatchCompleted:  func(context.Context, *events.Batch) { panic("in BatchCompleted") },
							ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) { panic("in ActionCompleted") },
							ActionFailed:    func(context.Context, *events.ActionFailed[hotel]) { panic("in ActionFailed") },
						},
					})
					arrange(r)
					for i := range 7 {
						r.upload(hotel{ID: fmt.Sprint(key, i), Name: content})
					}
					assert.Error(t, r.sender.UploadDocuments(t.Context(), hotel{ID: "_" + key, Name: content}))
					assert.Error(t, r.sender.UploadDocuments(t.Context(), hotel{ID: key, Name: strings.Repeat(content, 1000)}))
					require.NoError(t, r.sender.IndexDocuments(t.Context(), models.DeleteAction(hotel{ID: key})))
					_ = r.flush()
					r.upload(hotel{ID: key + "-late", Name: content})
					_ = r.sender.Close(within(t, 300*time.Millisecond))
					text := log.String()
					assert.NotEmpty(t, text)
					for what, secret := range map[string]string{"document contents": content, "an api key": searchtest.AdminKey, "document keys": key} {
						if level == slog.LevelDebug && secret != searchtest.AdminKey {
							// At debug level keys are allowed, and what the
							// service says about documents; the documents are not.
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
