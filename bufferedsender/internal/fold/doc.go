// Package fold is for the sender: it makes one action of two that wait for the
// same key, so that a key that changes all the time costs one write and not many.
// It works on encoded actions and knows neither the type of the documents nor the
// definition of the index.
//
// # Which actions
//
// A was accepted first, B later, and none of them is on its way:
//
//	A \ B           upload   mergeOrUpload        merge                delete
//	upload          B        upload(A⊕B)          upload(A⊕B)          delete
//	mergeOrUpload   B        mergeOrUpload(A⊕B)   mergeOrUpload(A⊕B)   delete
//	merge           B        never                merge(A⊕B)           delete
//	delete          B        upload(B)            never                delete
//
// The two that are never folded are those whose outcome depends on whether the
// document exists, in a way that no single action has:
//
//   - merge, then mergeOrUpload. On a missing document the merge fails and the
//     other creates one without the merge's fields. On an existing one both count.
//     merge(A⊕B) would not create, mergeOrUpload(A⊕B) would create too much.
//   - delete, then merge. The merge has to fail, and there is no action that
//     deletes and then fails.
//
// # What ⊕ is
//
// Members are compared by their names as they are after unescaping. What only one
// side has is taken as it is, byte for byte. Where both have a value,
//
//   - null, a string, a number, a boolean or an array of B replaces A's: the
//     service replaces collections whole;
//   - of two objects, the members are merged in the same way; {} in B changes
//     nothing, and {} in A is nothing.
//
// The result has A's members in A's order, then those that only B has in B's.
//
// # What the text does not tell
//
// The service merges into a document, ⊕ into an action. The two differ where an
// action can say less than a document can be. Each of these cases is refused
// (both actions are sent then), and each has a test:
//
//   - A says null and B an object. The address goes, then comes back with a city
//     only. merge({"address":{"city":…}}) would let the old street survive, and to
//     say that every other sub-field is null one has to know them. An upload can
//     say it: what it does not name is null.
//   - A does not have the object, or has it as null or {}, and somewhere inside
//     B's there is an {}. Merged into nothing, {} leaves nothing; in a document
//     that is created it is an object. So this is folded only if the result is a
//     merge, which leaves it to the service, and A's is not null. The emulator and
//     the documentation ("changes nothing") agree on this, but nothing recorded
//     proves it; refusing is right either way.
//   - One side has an object and the other an array, a string, a number or a
//     boolean, or one an array and the other one of those. No field takes both, so
//     one action will be refused; together they might not be.
//   - A name that occurs twice in an object that is to be merged. The service
//     refuses such an action.
//   - A name with an "@" in it, other than the @search.action that every action
//     begins with, in an object that is to be merged or where an {} would count.
//     Annotations are no fields, and an object of nothing else counts as empty.
//   - More than 64 objects and arrays inside each other, white space between
//     tokens (encoded actions have none), and whatever is not JSON.
//
// A geography point is an object in the text and a single value to the service.
// Nothing tells it from an object that happens to have the sub-fields "type" and
// "coordinates", so it is treated as any object: a point over a point takes type
// and coordinates from B, and at most keeps a "crs" of A, which can only be null
// or the one system that the service knows; a point over null is refused unless
// the result is an upload.
//
// # What is promised
//
// If each of the actions, sent on its own, would be accepted or would be a merge
// that fails because the document is missing, the index ends in the same state
// folded or not, whatever was there before, and however a longer sequence is cut
// into pairs.
//
// There is one exception, and it is for the better. The service keeps no copy of a
// vector field with "stored": false, so a merge that does not send it loses it. If
// the action that brought the vector is folded with such a merge, the vector
// arrives.
//
// Outcomes belong to the write: all parts settle as the action that carried them
// did. That differs from one-by-one sending in these ways:
//
//   - An action that is followed by an upload or a delete is never sent. It
//     settles with that, also a merge that would have met a missing document and
//     an action that the service would have refused.
//   - If one part alone would be refused (a value of the wrong type, an unknown
//     field, a term that is too long), then so is the whole, and a good part fails
//     with it; unless the later part overwrites what was wrong, and then the bad
//     part succeeds. Nor is a vector, or a geography point, checked that is not
//     there any more.
//   - The status may be 200 instead of 201 or the other way round: a delete and an
//     upload are two writes, an upload over the old document is one.
package fold
