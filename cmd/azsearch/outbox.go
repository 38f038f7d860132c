package main

import "errors"

var errNoOutbox = errors.New("the name of the outbox is missing: end the URL with ?name=QUEUE, or use -name")
