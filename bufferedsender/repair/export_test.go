package repair

// SetHeldKeys bounds how many keys a DeleteWhere holds at once, and SetSpoolBytes the memory for what a scan has found.
func (o *DeleteOptions) SetHeldKeys(n int) { o.heldKeys = n }

func (o *DeleteOptions) SetSpoolBytes(n int64) { o.spoolBytes = n }
