// Package archtest is for whoever adds a package or a dependency: its test
// fails when one package of this module imports what it must not, when a
// package has no rule yet, or when a file lies where none belongs. The rules
// are the tables in rules.go and tree.go; changing one is a design decision,
// so its commit says why.
package archtest
