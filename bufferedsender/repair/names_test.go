package repair

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// named is an index of a client that has a name for it, and namedSender a sender of another one.
type named struct {
	Index
	index string
}

func (n named) IndexName() string { return n.index }
func (n named) Endpoint() string  { return "https://hotels.search.windows.net" }

type namedSender struct {
	Sender
	endpoint, index string
}

func (n namedSender) Info() models.SenderInfo {
	info := n.Sender.Info()
	info.Endpoint, info.IndexName = n.endpoint, n.index
	return info
}

func TestADryRunNeedsNoSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3)
		var none *bufferedsender.RawSender
		index := named{half{w, "index"}, "hotels"}
		_, err := Run(t.Context(), half{w, "source"}, index, none, &Options{DryRun: true, Logger: quiet})
		require.NoError(t, err)
		_, err = DeleteWhere(t.Context(), index, none, &DeleteOptions{DryRun: true, Logger: quiet})
		require.NoError(t, err)
	})
}

func TestASenderThatNamesAnotherIndexIsLogged(t *testing.T) {
	const here, there = "https://hotels.search.windows.net", "https://rooms.search.windows.net"
	for name, tc := range map[string]struct {
		endpoint, index string
		logged          bool
	}{
		"the same":          {here, "hotels", false},
		"another index":     {here, "rooms", true},
		"another service":   {there, "hotels", true},
		"it does not say":   {"", "", false},
		"it says a part":    {"", "hotels", false},
		"another spelling":  {"https://Hotels.search.windows.net:443/", "hotels", false},
		"an alias, perhaps": {here, "hotels-2", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				index, to := named{half{w, "index"}, "hotels"}, namedSender{w.sender(nil).Raw(), tc.endpoint, tc.index}
				ended, cancel := context.WithCancel(t.Context())
				cancel() // they say it before they begin
				for what, call := range map[string]func(*slog.Logger) error{
					"Run": func(l *slog.Logger) error {
						_, err := Run(ended, half{w, "source"}, index, to, &Options{Logger: l})
						return err
					},
					"RepairKeys": func(l *slog.Logger) error {
						_, err := RepairKeys(ended, half{w, "source"}, index, to, &Options{Logger: l}, "a")
						return err
					},
					"DeleteWhere, dry": func(l *slog.Logger) error {
						_, err := DeleteWhere(ended, index, to, &DeleteOptions{Logger: l, DryRun: true})
						return err
					},
					"DeleteWhere": func(l *slog.Logger) error {
						_, err := DeleteWhere(ended, index, to, &DeleteOptions{Logger: l, AllowDeletes: 1})
						return err
					},
				} {
					var log bytes.Buffer
					_ = call(slog.New(slog.NewTextHandler(&log, nil))) // it ends with an error, or without a key that it could do anything about
					if tc.logged {
						assert.Contains(t, log.String(), "written="+tc.index, what)
					} else {
						assert.Empty(t, log.String(), what)
					}
				}
			})
		})
	}
}
