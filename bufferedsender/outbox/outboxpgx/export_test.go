package outboxpgx

import "time"

// SetPing bounds how long nothing may come before the server is asked.
func (o *ListenOptions) SetPing(d time.Duration) { o.ping = d }
