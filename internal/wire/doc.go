// Package wire is for the packages of this module that read JSON as bytes: the
// encoder of documents, the decoder of replies, the folding of actions. It knows
// where tokens, members and values end, and decodes nothing.
//
// There are two ways through a text, because they are for two kinds of text.
//
//   - Check and Compact, and what they are made of (StringEnd, NumberEnd,
//     WordEnd), check each byte. They are for what a program has written: a
//     json.RawMessage, the result of a MarshalJSON, an action that is folded.
//   - EachMember and ValueEnd find the members of an object in what is known to be
//     JSON, or is checked by encoding/json member by member. They check little, and
//     pass over a string at the speed of bytes.IndexByte.
//
// One way for both was tried: with StringEnd in EachMember the key of a raw
// document takes 1.5 times as long and a page of results 1.1 times (medians of
// seven runs in turn of
//
//	go test -run '^$' -bench 'KeyFieldGet/raw' ./models
//	go test -run '^$' -bench SearchPage ./search
//
// ), and a search reply is read by encoding/json anyway. The list of members that
// bufferedsender/internal/fold makes, and the shape of a reply that package search
// expects, stay with them: they are about what the text says. The emulator has a
// scanner of its own, which says what is wrong in the service's words.
package wire
