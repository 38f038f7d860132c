package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// service is the emulated service with its forty indexes.
type service struct {
	*searchtest.Server

	names []string

	writing sync.RWMutex // held by requests to the index that is deleted; the deletion has it alone
	last    map[string]json.RawMessage
}

// The indexes that have a part of their own.
const (
	products = "products" // gets live updates and a backfill
	sick     = "reviews"  // answers 503 for a while
	doomed   = "coupons"  // is deleted
)

const (
	howMany = 40
	latency = 25 * time.Millisecond
)

// newService starts a service.
func newService() (*service, error) {
	s := &service{Server: searchtest.NewServer(&searchtest.Options{Latency: latency, KeepRequests: -1, KeepChanges: -1})}
	s.names = []string{products, sick, doomed}
	for len(s.names) < howMany {
		s.names = append(s.names, fmt.Sprintf("tenant-%02d", len(s.names)))
	}
	fields, err := models.FieldsOf[Item]()
	for _, name := range s.names {
		err = errors.Join(err, s.CreateIndex(models.SearchIndex{Name: name, Fields: fields}))
	}
	s.Intercept(s.remember)
	return s, err
}

// client returns a client whose requests stay inside the process.
func (s *service) client() (*search.IndexClient, error) {
	opts := &search.ClientOptions{}
	opts.Transport = s.Server
	return search.NewIndexClientWithKey(s.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
}

// remember keeps what the doomed index holds at the moment at which it is deleted, to be compared at the end.
func (s *service) remember(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if !strings.Contains(r.URL.Path, doomed) {
		return next(r)
	}
	if r.Method != http.MethodDelete {
		s.writing.RLock()
		defer s.writing.RUnlock()
		return next(r)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.last = s.Documents(doomed)
	return next(r)
}

// breakDown has the sick index answer 503.
func (s *service) breakDown(d time.Duration) {
	s.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments, Index: sick, Status: http.StatusServiceUnavailable, For: searchtest.Duration(d),
	}}})
}

// held returns what an index holds, or held when it was deleted.
func (s *service) held(index string) map[string]json.RawMessage {
	if index != doomed {
		return s.Documents(index)
	}
	s.writing.RLock()
	defer s.writing.RUnlock()
	return s.last
}
