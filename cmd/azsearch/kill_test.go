package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Tests of clients kill an emulator during work and start another one on the same port at once. The new one has no
// data of the old one.
func TestKilledEmulatorStartsAgainOnItsPort(t *testing.T) {
	e := startEmulator(t, "-quiet")
	status, _, body := e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotels)
	require.Equal(t, http.StatusCreated, status, body)

	stop := make(chan struct{})
	var answered, refused, missing atomic.Int64
	var wg sync.WaitGroup
	for worker := range 3 {
		transport := new(http.Transport)
		wg.Go(func() {
			defer transport.CloseIdleConnections()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				req, err := http.NewRequest(http.MethodPost, e.url+"/indexes('hotels')/docs/search.index?api-version=2026-04-01",
					strings.NewReader(fmt.Sprintf(`{"value":[{"id":"%d-%d"}]}`, worker, i)))
				if err != nil {
					panic(err)
				}
				req.Header.Set("Api-Key", searchtest.AdminKey)
				req.Header.Set("Content-Type", "application/json")
				resp, err := transport.RoundTrip(req)
				switch {
				case err != nil:
					refused.Add(1)
					time.Sleep(time.Millisecond) // saves ports
					continue
				case resp.StatusCode == http.StatusNotFound:
					missing.Add(1)
				case resp.StatusCode == http.StatusOK:
					answered.Add(1)
				}
				_ = resp.Body.Close()
			}
		})
	}
	defer wg.Wait()
	defer close(stop)
	reaches := func(n *atomic.Int64, least int64) {
		testkit.Eventually(t, func() bool { return n.Load() >= least })
	}
	reaches(&answered, 50)
	require.NoError(t, e.cmd.Process.Kill())
	_ = e.cmd.Wait() // reports the kill
	reaches(&refused, 10)
	assert.Zero(t, missing.Load())

	again := startEmulator(t, "-quiet", "-addr", strings.TrimPrefix(e.url, "http://"))
	require.Equal(t, e.url, again.url)
	reaches(&missing, 1)
	http.DefaultClient.CloseIdleConnections() // a connection to the first process may be left
	status, _, body = again.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotels)
	require.Equal(t, http.StatusCreated, status, "the documents ended with the process: %s", body)
	reaches(&answered, answered.Load()+50)
}
