package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

// Serve serves on a free port until standard input ends. Its first line of output is the address.
func Serve(ctx context.Context, std cli.Streams, handler http.Handler) error {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(std.Out, "http://%s\n", socket.Addr()); err != nil {
		return errors.Join(err, socket.Close())
	}
	up := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1) // buffered: the goroutine ends also if the result is not received
	go func() { served <- up.Serve(socket) }()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, std.In)
		close(ended)
	}()
	select {
	case err := <-served:
		return err
	case <-ended:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if up.Shutdown(ctx) != nil {
			return up.Close()
		}
		return nil
	}
}

// StartServer starts a command that calls Serve, and returns its address. The caller must stop the process.
func StartServer(command *exec.Cmd) (*Process, string, error) {
	process, err := Start(command)
	if err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReader(process.Stdout).ReadString('\n')
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("the server did not start: %w", err), process.Stop())
	}
	return process, strings.TrimSpace(line), nil
}
