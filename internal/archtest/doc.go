// Package archtest checks the rules of this repository for packages, dependencies and files. Its test fails if a
// package imports what it must not, a package has no rule, a file is in the wrong place, code names an api-version
// instead of a capability, no other package uses an exported name, or the code in a package comment does not
// compile. The rules are the tables in rules.go and tree.go, and the list in names.txt. A change of a rule is a
// design decision, so its commit message must give the reason.
package archtest
