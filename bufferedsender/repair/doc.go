// Package repair compares an index with what it is made of, and repairs what differs.
package repair
