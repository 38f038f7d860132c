package search

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// defaultHTTPClient is what clients send with unless ClientOptions.Transport
// says otherwise: one connection pool for the process, set up like azcore's.
//
// It is not azcore's own because that one follows redirects, and net/http then
// takes the api-key header along to whatever host the redirect names (it drops
// Authorization, but cannot know about ours). The service never redirects.
var defaultHTTPClient = &http.Client{
	Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{
			Timeout:   30 * time.Second,
			KeepAlive: 30 * time.Second,
		}).DialContext,
		ForceAttemptHTTP2:     true,
		WriteBufferSize:       256 << 10, // fewer and larger writes of batches
		MaxIdleConns:          100,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		// A connection that died without a word (a NAT that forgot it) is found
		// by pings instead of by requests that hang.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
