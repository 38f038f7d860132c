// Package webpage holds the common parts of this module's pages, the dashboard of a sender and the page of the
// emulator: a guard against other pages in the same browser, embedded files, replies as JSON, and styles.
package webpage
