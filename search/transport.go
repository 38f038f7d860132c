package search

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// defaultHTTPClient sends the requests of clients without ClientOptions.Transport: one connection pool per process,
// configured like azcore's.
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
		// Pings find a connection that died silently (for example dropped by a NAT) before requests hang on it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	},
}
