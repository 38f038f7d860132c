// Package queuetest is for those who write a back end of package queue: Run is the suite that every back end passes.
// The package is experimental: its API may change in any release.
//
// It imports the standard library and the contract only, so that a back end outside this
// module can use it:
//
//	func TestSuite(t *testing.T) {
//		queuetest.Run(t, queuetest.Backend{
//			Run: queuetest.Bubble(func(t *testing.T, c queuetest.Config) *queuetest.Harness {
//				return &queuetest.Harness{Queue: myqueue.New(c.MaxKeys, c.MaxBytes)}
//			}),
//			Limited: true,
//		})
//	}
//
// ICK.md says where the suite differs from the tests of Redis::Ick, which the queue follows, and where it tests more.
//
// No test waits for a lease in real time: all time passes by Harness.Sleep.
//
// What a back end cannot do is declared in its Backend, and nothing is skipped: a test of something that
// a back end does not have does not run, and is not listed.
package queuetest
