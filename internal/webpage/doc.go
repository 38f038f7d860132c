// Package webpage is what the pages of this module have in common, the dashboard of a sender and the page of the
// emulator: a guard against other pages in the same browser, embedded files, replies as JSON, and the looks.
package webpage
