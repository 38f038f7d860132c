package browsertest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	browserlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	seed    = "testdata/seed.json"
	patient = 30 * time.Second // limit for one condition, on a busy machine
)

// shared is the program under test and one browser for all tests.
var shared struct {
	binary  string
	browser context.Context
	skip    string // why there is no browser
}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		stop, err := start()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer stop()
		return m.Run()
	}())
}

// start builds the program and starts the browser. stop ends both.
func start() (stop func(), err error) {
	chromium := os.Getenv("AZSEARCH_CHROMIUM")
	if chromium == "" {
		chromium = "chromium"
	}
	if chromium, err = exec.LookPath(chromium); err != nil {
		shared.skip = "no browser: " + err.Error() + " (on Debian: apt-get install chromium)"
		if os.Getenv("AZSEARCH_BROWSER") == "required" {
			return nil, errors.New(shared.skip)
		}
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "azsearch-browser")
	if err != nil {
		return nil, err
	}
	shared.binary = filepath.Join(dir, "azsearch")
	build := exec.Command("go", "build", "-o", shared.binary, "./cmd/azsearch")
	build.Dir = filepath.Join("..", "..", "..", "..", "..") // the SDK's module, whose go.mod the build uses
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("building azsearch: %w: %s", err, out), os.RemoveAll(dir))
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium),
		chromedp.UserDataDir(filepath.Join(dir, "profile")),
		// Containers run it as root, and it shows only our own pages.
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		// The browser must make no network requests of its own.
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	browser, cancelBrowser := chromedp.NewContext(allocator)
	stop = func() {
		cancelBrowser()
		cancelAllocator()
		_ = os.RemoveAll(dir)
	}
	if err := chromedp.Do(browser); err != nil {
		stop()
		return nil, fmt.Errorf("starting the browser: %w", err)
	}
	shared.browser = browser
	return stop, nil
}

// emulator is a running "azsearch emulator -ui".
type emulator struct {
	url  string
	stop func()
}

// startEmulator starts an emulator with seed on a free port and returns when it has printed the page's URL.
func startEmulator(t *testing.T) emulator {
	t.Helper()
	return startEmulatorAt(t, "127.0.0.1:0")
}

func startEmulatorAt(t *testing.T, addr string) emulator {
	t.Helper()
	if shared.skip != "" {
		t.Skip(shared.skip)
	}
	cmd := exec.Command(shared.binary, "emulator", "-ui", "-addr", addr, "-seed", seed)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var rest sync.WaitGroup
	stop := sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		rest.Wait() // a pipe must be read to its end before Wait
		_ = cmd.Wait()
	})
	t.Cleanup(stop)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "the emulator ended without an endpoint")
	url := strings.TrimSuffix(line, "\n")
	lines := bufio.NewReader(stderr)
	page, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, page, url+"/", "stderr has the page's URL")
	rest.Go(func() { _, _ = io.Copy(io.Discard, lines) })
	return emulator{url, stop}
}

// tab is an open page.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	mu       sync.Mutex // guards the following fields
	problems []string   // complaints of the browser
	foreign  []string   // requests to other hosts
}

// open opens the page of an emulator in a new tab. The test fails if the page causes an exception, a browser
// complaint or a request to another host. allowed are texts that complaints may contain.
func open(t *testing.T, e emulator, allowed ...string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(shared.browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, url: e.url}
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(1500, 950)))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	require.NoError(t, chromedp.Listen(ctx, p.listen))
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, problem := range p.problems {
			assert.Condition(t, func() bool { return containsAny(problem, allowed) }, "the browser reports: %s", problem)
		}
		assert.Empty(t, p.foreign, "requests to others")
	})
	p.do(chromedp.Navigate(e.url + "/"))
	p.waitFor(`document.getElementById('live').textContent === 'live'`)
	return p
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// listen records such events; the browser calls it.
func (p *tab) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, "exception: "+e.ExceptionDetails.Text+" "+string(e.ExceptionDetails.Exception.Description))
	case *runtime.EventConsoleAPICalled:
		var text bytes.Buffer
		for _, arg := range e.Args {
			fmt.Fprintf(&text, " %s%s", arg.Value, arg.Description)
		}
		p.problems = append(p.problems, "console."+string(e.Type)+":"+text.String())
	case *browserlog.EventEntryAdded:
		if e.Entry.Level == browserlog.EntryLevelError || e.Entry.Level == browserlog.EntryLevelWarning {
			p.problems = append(p.problems, string(e.Entry.Level)+": "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, p.url+"/") {
			p.foreign = append(p.foreign, e.Request.URL)
		}
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patient)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, actions...))
}

// waitFor waits until a JavaScript expression is true.
func (p *tab) waitFor(expression string) {
	p.t.Helper()
	// chromedp.Poll compiles text to a function, which the page's policy forbids.
	const until = `new Promise((done) => { const look = () => (%s) ? done(true) : setTimeout(look, 20); look() })`
	ctx, cancel := context.WithTimeout(p.ctx, patient)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(until, expression), chromedp.EvalAwaitPromise))
	if err != nil {
		p.screenshot("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
	}
	require.NoError(p.t, err, "waiting for %s", expression)
}

// evaluate returns the value of a JavaScript expression, or the result of its promise.
func evaluate[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patient)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return v
}

// text returns the visible text of an element.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return evaluate[string](p, `document.querySelector(`+strconv.Quote(selector)+`).innerText`)
}

// click clicks on an element.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.ScrollIntoView(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// press clicks on the button with this label.
func (p *tab) press(label string) {
	p.t.Helper()
	button := `//button[normalize-space()=` + strconv.Quote(label) + `]`
	p.do(chromedp.ScrollIntoView(button), chromedp.Click(button))
}

// write replaces the text in a control by typing.
func (p *tab) write(selector, text string) {
	p.t.Helper()
	evaluate[any](p, `(() => { const c = document.querySelector(`+strconv.Quote(selector)+`); c.focus(); c.select() })()`)
	p.do(chromedp.KeyEvent(kb.Backspace))
	p.do(chromedp.KeyEvent(text))
}

// choose selects an index in the list.
func (p *tab) choose(index string) {
	p.t.Helper()
	p.click(`#indexes button[data-index=` + index + `]`)
	p.waitFor(`document.getElementById('index-title').textContent === ` + strconv.Quote(index))
}

// search sends the query and waits for its result.
func (p *tab) search() {
	p.t.Helper()
	p.click("#query button[type=submit]")
	p.waitFor(`/ms$/.test(document.getElementById('summary').textContent) || !document.getElementById('query-error').hidden`)
}

// resize changes the size of the window.
func (p *tab) resize(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// scheme sets the preferred colour scheme, "light" or "dark".
func (p *tab) scheme(name string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
	require.NoError(p.t, err)
}

// screenshot writes a picture of the window if the environment asks for one.
func (p *tab) screenshot(name string) {
	dir := os.Getenv("AZSEARCH_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644))
}
