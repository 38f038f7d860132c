// Package fold merges two waiting actions of one key into one, so that a key that changes continuously needs one write.
// It is for the sender. It works on encoded actions, without the type of the documents or the definition of the index.
//
// # Which actions
//
// A was accepted first, B later, and neither is in flight:
//
//	A \ B           upload   mergeOrUpload        merge                delete
//	upload          B        upload(A⊕B)          upload(A⊕B)          delete
//	mergeOrUpload   B        mergeOrUpload(A⊕B)   mergeOrUpload(A⊕B)   delete
//	merge           B        never                merge(A⊕B)           delete
//	delete          B        upload(B)            never                delete
//
// Two pairs are never folded, because their outcome depends on whether the document exists in a way that no single
// action can express:
//
//   - merge, then mergeOrUpload. If the document is missing, the merge fails and the other creates one without the
//     merge's fields; otherwise both apply. merge(A⊕B) would not create the document, mergeOrUpload(A⊕B) would create
//     it with too many fields.
//   - delete, then merge. The merge must fail, and no action deletes and then fails.
//
// # What ⊕ is
//
// Members are matched by their unescaped names. A member that only one side has is copied byte for byte. If both have a
// value:
//
//   - null, a string, a number, a boolean or an array of B replaces A's, because the service replaces collections as a
//     whole;
//   - two objects are merged recursively; {} in B changes nothing, and {} in A counts as empty.
//
// The result has A's members in A's order, then B's additional ones in B's order.
//
// # Cases that cannot be decided from the text
//
// The service merges into a document, ⊕ into an action. The two differ if a document can have a state that the action
// cannot express. Each of these cases is refused, so that both actions are sent, and has a test:
//
//   - A has null and B an object. An address is removed, then created again with only a city.
//     merge({"address":{"city":…}}) would keep the old street, and setting all other sub-fields to null requires their
//     names. An upload can express it, because it sets unnamed fields to null.
//   - A lacks the object, or has null or {}, and B's contains an {} at some depth. Merged into nothing, {} leaves
//     nothing; in a created document it is an object. So this is folded only if the result is a merge, which leaves the
//     decision to the service, and A's value is not null. The emulator and the documentation ("changes nothing") agree,
//     but no recording proves it; refusing is correct either way.
//   - One side has an object and the other an array, a string, a number or a boolean, or one an array and the other one
//     of the latter. No field accepts both, so one action will be refused; folded they might not be.
//   - A name that occurs twice in an object that must be merged. The service refuses such an action.
//   - A name with an "@" in an object that must be merged or in which an {} would matter, except the leading
//     @search.action. Annotations are not fields, and an object with only annotations counts as empty.
//   - More than 64 levels of objects and arrays, white space between tokens (encoded actions have none), and invalid
//     JSON.
//
// A geography point is an object in the text but a single value to the service. It cannot be distinguished from an
// object with the sub-fields "type" and "coordinates", so it is treated as any object. A point over a point takes type
// and coordinates from B, and at most keeps a "crs" of A, which can only be null or the one system that the service
// supports. A point over null is refused unless the result is an upload.
//
// # What is promised
//
// Assume that each action, sent alone, would be accepted or would be a merge that fails because the document is
// missing. Then the index ends in the same state with or without folding, whatever it contained before, and however a
// longer sequence is divided into pairs.
//
// There is one exception, an improvement. The service keeps no copy of a vector field with "stored": false, so a merge
// without it loses the vector. If the action with the vector is folded with such a merge, the vector is kept.
//
// All parts get the outcome of the action that carried them. That differs from sending one by one in these ways:
//
//   - An action followed by an upload or a delete is never sent and settles with that one. This includes a merge whose
//     document would have been missing, and an action that the service would have refused.
//   - If one part alone would be refused (a value of the wrong type, an unknown field, a term that is too long), the
//     whole is refused, and a good part fails with it. But if the later part overwrites the fault, the bad part
//     succeeds. A vector or geography point that was overwritten is not checked either.
//   - The status may be 200 instead of 201 or vice versa: a delete and an upload are two writes, an upload over the old
//     document is one.
package fold
