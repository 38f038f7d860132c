package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/redisqueue"
	"github.com/go-azsearch/azsearch/internal/queuecontrol"
	"github.com/go-azsearch/azsearch/internal/sleep"
)

// operated has the operations of a queue that a running program serves to other processes, too.
type operated interface {
	queuecontrol.Queue
	io.Closer
}

// administered is a queue of any back end.
type administered interface {
	queue.Queue
	queue.Admin
}

// place names a queue.
type place struct {
	dir   string   // "" for a queue on Redis
	redis *url.URL // without the query parameter name
	name  string   // of a queue on Redis
}

// access is the purpose of opening a queue.
type access int

const (
	reading  access = iota
	changing        // by the program that has it open, if there is one
	writing
	making // writing, and creating the queue if it does not exist
)

// parsePlace parses the URL of a queue. name is the name of a queue on Redis, "" if the URL has it.
func parsePlace(where, name string) (place, error) {
	scheme, _, ok := strings.Cut(where, "://")
	switch {
	case where == "":
		return place{}, errors.New("the queue is missing: its URL is empty")
	case ok && (scheme == "redis" || scheme == "rediss"):
		return parseRedis(where, name)
	case ok && scheme != "file":
		return place{}, fmt.Errorf("%s:// is not a queue: use a directory, redis:// or rediss://", scheme)
	case name != "":
		return place{}, errors.New("-name is for queues on Redis: a directory has one queue")
	case !ok:
		return place{dir: where}, nil
	}
	u, err := url.Parse(where)
	switch {
	case err != nil:
		return place{}, errors.New("the URL of the queue cannot be read: write file:///PATH")
	case u.Host != "" && u.Host != "localhost", u.Path == "":
		return place{}, fmt.Errorf("%s is not a directory of this machine: write file:///PATH", shown(where))
	}
	dir := u.Path
	if runtime.GOOS == "windows" { // file:///C:/queue
		dir = strings.TrimPrefix(dir, "/")
	}
	return place{dir: filepath.FromSlash(dir)}, nil
}

func parseRedis(where, name string) (place, error) {
	u, err := url.Parse(where)
	if err != nil {
		// The text of err may have the password.
		return place{}, errors.New("the URL of the queue cannot be read: redis://HOST:PORT/0?name=QUEUE is the form, with the password in " + redisPassword + ", or special characters of one in the URL as %XX")
	}
	query := u.Query()
	inURL := query.Get("name")
	query.Del("name")
	u.RawQuery = query.Encode()
	switch {
	case inURL != "" && name != "" && inURL != name:
		return place{}, fmt.Errorf("the queue has two names: %q in the URL, and %q", inURL, name)
	case inURL == "" && name == "":
		return place{}, errors.New("the name of the queue is missing: end the URL with ?name=QUEUE, or use -name")
	case name == "":
		name = inURL
	}
	return place{redis: u, name: name}, nil
}

// String returns the URL or path of the queue, without a password.
func (p place) String() string {
	if p.redis == nil {
		return p.dir
	}
	u := *p.redis
	query := u.Query()
	query.Set("name", p.name)
	u.RawQuery = query.Encode()
	return u.Redacted()
}

// The environment variables with the credentials of Redis. Other users can see the URL, an argument of the process.
const (
	redisUser     = "REDIS_USERNAME"
	redisPassword = "REDIS_PASSWORD"
)

// address returns the URL of a queue on Redis to connect with: that of the argument, or if it has no password with
// that of the environment.
func (p place) address() string {
	u := *p.redis
	password := os.Getenv(redisPassword)
	if _, has := u.User.Password(); !has && password != "" {
		u.User = url.UserPassword(cmp.Or(u.User.Username(), os.Getenv(redisUser)), password)
	}
	return u.String()
}

// askAgain is the time between two attempts of operate to reach an owner that does not take commands yet, or that
// has just ended; asked is the number of attempts.
const askAgain, asked = 100 * time.Millisecond, 10

// operate opens a queue for a command. For changing it connects to the program that has the directory open, if there
// is one.
func (p place) operate(ctx context.Context, how access) (operated, error) {
	for n := 1; ; n++ {
		q, err := p.open(how)
		if how != changing || !errors.Is(err, filequeue.ErrLocked) {
			return q, err
		}
		owner := &queuecontrol.Client{Dir: p.dir}
		_, asking := owner.Stats(ctx)
		switch {
		case asking == nil:
			return owner, nil
		case errors.Is(asking, fs.ErrPermission):
			return nil, fmt.Errorf("%w; run this as the user of the program", asking)
		case !errors.Is(asking, queuecontrol.ErrAbsent):
			return nil, asking
		case n == asked:
			return nil, fmt.Errorf("%w, and that process does not accept commands now: wait until it has opened or closed the queue; "+
				"stop it if it is an older version or runs on Windows", err)
		}
		if err := sleep.For(ctx, askAgain); err != nil {
			return nil, err
		}
	}
}

// open opens an existing queue, or for making a queue that may not exist.
func (p place) open(how access) (administered, error) {
	if p.redis != nil {
		redisqueue.Silence() // the command reports each error once itself
		// The durability of the server matters to programs that append; stats prints it.
		q, err := redisqueue.Open(p.address(), p.name, &redisqueue.Options{AcceptWeaker: true, Existing: how != making})
		if errors.Is(err, redisqueue.ErrNotFound) {
			return nil, fmt.Errorf("there is no queue %q at %s: is the name right?", p.name, p.redis.Redacted())
		}
		if err != nil {
			return nil, err
		}
		return q, nil
	}
	if how != making {
		if err := p.exists(); err != nil {
			return nil, err
		}
	}
	q, err := filequeue.Open(p.dir, &filequeue.Options{ReadOnly: how == reading})
	switch {
	case err == nil:
		return q, nil
	case how == changing && errors.Is(err, filequeue.ErrLocked): // see operate
		return nil, err
	}
	return nil, p.advise(err)
}

// exists returns an error if the directory has no queue. Opening such a directory would create one.
func (p place) exists() error {
	entries, err := os.ReadDir(p.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s: is the path right?", shown(p.dir))
	case err != nil:
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "log-") {
			return nil
		}
	}
	return fmt.Errorf("there is no queue in %s: is the path right?", shown(p.dir))
}

// advise adds to an error of opening a directory what the user can do.
func (p place) advise(err error) error {
	var corrupt *filequeue.CorruptError
	switch {
	case errors.Is(err, filequeue.ErrLocked):
		return fmt.Errorf("%w; only one process can open a directory: stop it", err)
	case errors.As(err, &corrupt):
		return fmt.Errorf("%w; azsearch queue repair salvages the rest", err)
	case errors.Is(err, filequeue.ErrNetwork):
		return fmt.Errorf("%w; run this on the machine that has the disk", err)
	}
	return err
}
