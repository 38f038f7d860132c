package main

import "hash/fnv"

// Record is one entry of the log. A record without a value is a tombstone: its
// key is deleted.
type Record struct {
	Partition int32
	Offset    int64
	Key       string
	Value     *Value
}

// Value is the value of a record.
type Value struct {
	Title    string
	Category string
}

// appendRecord puts a record at the end of the partition that its key belongs to:
// all records of a key are in one partition, so in one order. Offsets have gaps,
// as they have in Kafka, where transactions and compaction leave some out. The
// lock of the group is held.
func appendRecord(partitions [][]Record, key string, value *Value) Record {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key))
	p := int32(hash.Sum32() % uint32(len(partitions)))
	offset := int64(0)
	if n := len(partitions[p]); n > 0 {
		offset = partitions[p][n-1].Offset + 1
		if offset%50 == 49 {
			offset++
		}
	}
	r := Record{Partition: p, Offset: offset, Key: key, Value: value}
	partitions[p] = append(partitions[p], r)
	return r
}

// from returns up to limit records of a partition, from an offset on.
func from(partition []Record, offset int64, limit int) []Record {
	low, high := 0, len(partition)
	for low < high {
		if mid := (low + high) / 2; partition[mid].Offset < offset {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return partition[low:min(low+limit, len(partition))]
}
