// Package deadletter is for programs that must not lose what the service has
// refused: it keeps each action that a sender gave up, with the reason, until it
// was sent again after a fix, or somebody decides against it.
// The package is stable.
//
//	letters, err := deadletter.Open("/var/lib/hotels/letters", nil)
//	if err != nil { … }
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{DeadLetters: letters})
//	if err != nil { … }
//	…
//	if err := sender.Close(ctx); err != nil { … }
//	if err := letters.Close(); err != nil { … } // after the senders
//
// A [File] writes each [Letter] as a line of JSON, so that grep and jq read it
// too. One File serves any number of senders; [Read] shows what there is, also
// from another process; [Replay] sends it again and removes what gets through;
// [File.Discard] removes what nobody will send again.
//
// # What is guaranteed
//
//   - A letter for which Write has returned nil survives a crash of the program
//     and of the machine, and is there until it was delivered or discarded.
//     There are limits of size, but no age and no number at which the oldest
//     make room: Write refuses instead.
//   - Replay delivers at least once: a crash repeats at most the letters that
//     were under way, which are those of one call of the sender.
//   - The actions of one key are applied in the order in which they were given
//     up, across refusals, crashes and any number of Replays. Between a letter
//     and what the program sends of the same key at other times there is no
//     order: a letter is as old as it is.
//   - One action is one letter: refused again it keeps its place and gets the
//     newer reason.
//
// # What is sent again
//
// Replay sends the bytes that the letter has, through the Raw method of any sender
// for the index:
//
//	report, err := deadletter.Replay(ctx, letters, client.IndexName(), sender.Raw(), nil)
//
// The type of its documents does not matter, nor what has become of it since.
// ReplayOptions.Document mends a document on its way. It may do so through a type,
// with json.Unmarshal and json.Marshal, but that loses what the type does not hold:
// a field that it no longer has, or a null that a merge is to set where the field
// has omitempty. models.Document holds any document.
//
// # What to watch
//
// Letters hold documents. Files are readable by their owner only, and
// FileOptions.Redact keeps the documents out of them. Put the directory where it
// outlives the machine that the program runs on: a container has to mount it.
// Alarm when Stats().Files, or the sender's Stats().DeadLetters, grows, and when
// its DeadLetterErrors is not 0: these actions are nowhere but in the events.
//
// DESIGN.md in this folder has the argument about crashes.
package deadletter
