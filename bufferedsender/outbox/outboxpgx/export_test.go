package outboxpgx

import "time"

// SetPing sets the silence after which the listener pings the server.
func (o *ListenOptions) SetPing(d time.Duration) { o.ping = d }
