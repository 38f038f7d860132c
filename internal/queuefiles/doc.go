// Package queuefiles tests package filequeue on real files: it runs random programs on a queue and compares every
// answer with that of queuelab.Model. A program opens one directory three to eight times: in this process, in a process
// that is killed, or on a full file system. Some keys stay in the queue from one opening to the next while the segments
// around them are compacted. internal/soak runs the programs.
package queuefiles
