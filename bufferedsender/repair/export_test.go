package repair

// SetBatches sets how many keys are in a batch of a DeleteWhere, and how many batches are in the sender at once.
func (o *DeleteOptions) SetBatches(keys, parallel int) { o.batchKeys, o.parallel = keys, parallel }

// SetHeldKeys bounds how many keys a DeleteWhere holds at once, and SetSpoolBytes the memory for what a scan has found.
func (o *DeleteOptions) SetHeldKeys(n int) { o.heldKeys = n }

func (o *DeleteOptions) SetSpoolBytes(n int64) { o.spoolBytes = n }
