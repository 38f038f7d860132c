package repair

// SetBatches sets the number of keys in a batch of a DeleteWhere, and the number of concurrent batches.
func (o *DeleteOptions) SetBatches(keys, parallel int) { o.batchKeys, o.parallel = keys, parallel }

// SetHeldKeys limits the keys that a DeleteWhere holds at once; SetSpoolBytes limits the memory for scan results.
func (o *DeleteOptions) SetHeldKeys(n int) { o.heldKeys = n }

func (o *DeleteOptions) SetSpoolBytes(n int64) { o.spoolBytes = n }
