// Package tuning is for those who want a buffered sender to find out by itself
// how much a search service takes, or to tell it.
package tuning
