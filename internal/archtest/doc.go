// Package archtest is for whoever adds a package or a dependency: its test
// fails when one package of this module imports what it must not, when a
// package has no rule yet, when a file lies where none belongs, when code
// names an api-version instead of a capability, when an exported name serves
// nobody, or when the code in a package comment does not compile. The rules
// are the tables in rules.go and tree.go, and the list in names.txt; changing one is a design decision,
// so its commit says why.
package archtest
