// Package archtest is for whoever adds a package or a dependency: its test
// fails when one package of this module imports what it must not, when a
// package has no rule yet, when a file lies where none belongs, when code
// names an api-version instead of a capability, or when an exported name serves nobody. The rules
// are the tables in rules.go and tree.go, and the list in names.txt; changing one is a design decision,
// so its commit says why.
package archtest
