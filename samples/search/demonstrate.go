package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/search"
)

// demonstrate asks a few questions, for those who look without a terminal.
func demonstrate(ctx context.Context, client *search.Client, like question, out *page) error {
	like.top, like.page = 3, 1
	for _, d := range []struct {
		command string
		change  func(*question)
	}{
		{"search read file", func(q *question) { q.words = "read file" }},
		{"search -package net/... -kind method timeout", func(q *question) { q.words, q.pkg, q.kinds = "timeout", "net/...", []string{"method"} }},
		{`search -kind type '"deadline exceeded" | cancel*'`, func(q *question) { q.words, q.kinds = `"deadline exceeded" | cancel*`, []string{"type"} }},
		{"search unmarshl", func(q *question) { q.words = "unmarshl" }},
	} {
		q := like
		d.change(&q)
		fmt.Fprintf(out.w, "$ %s\n", d.command)
		a, err := find(ctx, client, q)
		if err != nil {
			return err
		}
		out.print(a)
		fmt.Fprintln(out.w)
	}
	q := like
	q.words = "newre"
	completions, err := q.complete(ctx, client)
	if err != nil {
		return err
	}
	fmt.Fprintf(out.w, "search> newre and the Tab key\n%s\n", strings.Join(lines(completions), "  "))
	return nil
}
