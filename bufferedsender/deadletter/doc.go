// Package deadletter keeps each action that a sender gave up, with the reason, until it was sent again after a fix or
// discarded. It is for programs that must not lose what the service has refused.
// The package is stable.
//
//	dead, err := deadletter.Open("/var/lib/hotels/dead", nil)
//	if err != nil { … }
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{DeadLetters: dead})
//	if err != nil { … }
//	…
//	if err := sender.Close(ctx); err != nil { … }
//	if err := dead.Close(); err != nil { … } // after the senders
//
// A [File] writes each dead letter as a line of JSON, which grep and jq can read too. One File serves any number of
// senders. [Read] lists the dead letters, also from another process. [Replay] sends them again and removes those that
// are applied. [File.Discard] removes those that must not be sent any more.
//
// # Guarantees
//
//   - A dead letter for which Write has returned nil survives a crash of the program and of the machine. It stays until
//     it is delivered or discarded. Sizes are limited, but neither age nor number: if the limit is reached Write
//     refuses new dead letters instead of removing old ones. Open counts and logs those that a bad copy, or a disk that
//     ignores syncs, has cut off.
//   - Replay delivers at least once: a crash repeats at most the dead letters under way, which are those of one call of
//     the sender.
//   - The actions of one key are applied in the order in which they were given up, across refusals, crashes and any
//     number of Replays. There is no order between a dead letter and other actions of its key that the program sends:
//     it may overwrite newer ones, unless both have a version.
//   - One action has one dead letter: if it is refused again, the dead letter keeps its place and gets the newer
//     reason.
//
// # What is sent again
//
// Replay sends the bytes of the dead letter, through the Raw method of any sender for the index:
//
//	report, err := deadletter.Replay(ctx, dead, client.IndexName(), sender.Raw(), nil)
//
// The sender may have any document type, and the type may have changed. ReplayOptions.Document corrects a document on
// its way. If it decodes and encodes the document by a type, with json.Unmarshal and json.Marshal, it loses what the
// type does not have: a removed field, or a null that a merge should set in a field with omitempty. models.Document
// holds any document.
//
// # Versions
//
// If the senders have Folding.Version, and the File itself as their DeadLetters, no Replay, by any sender and process,
// puts an older version over a newer one that was applied after the older one had become a dead letter. The older one
// is removed and counted in Report.Outdated. This holds from the moment at which the newer action is reported as
// completed, except for what a Replay has already passed to another sender; a log line reports if the disk fails then.
// The File remembers applied versions of a key only while it has a dead letter of it, and a sender those of keys that
// had one. So a version that fails after a newer one was applied is sent again, as the sender itself has sent it.
// Deletes, patches and documents without a version have no such order. The first applied version makes the File read
// its dead letters once. Each that has a version takes about 200 bytes of memory.
//
// # Operation
//
// Dead letters contain documents. Files are readable by their owner only, and FileOptions.Redact keeps documents out of
// them. Put the directory on storage that outlives the machine or container. Alert if Stats().Files or the sender's
// Stats().DeadLetters grows, and if its DeadLetterErrors is not 0: those actions are only in the events.
//
// DESIGN.md in this folder has the argument about crashes.
package deadletter
