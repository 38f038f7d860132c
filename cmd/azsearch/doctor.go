package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/doctor"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
)

func newDoctorCommand(stdout, stderr io.Writer) *cli.Command {
	return namedCommand(stdout, stderr, cli.Command{
		Name:  "doctor",
		Usage: "check the network path to a service, credentials, limits, an index, a queue and an outbox",
		Description: `Each line is ok, a warning or a failure, followed by what to do. Nothing is changed. The exit code is 1
if there is a failure.

   azsearch doctor
   azsearch doctor -index hotels
   azsearch doctor -index hotels -queue /var/lib/hotels/queue -outbox 'postgres://app@db/shop?name=hotels' -json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "index", Usage: "check the index `NAME`, and the permissions on its documents"},
			&cli.StringFlag{Name: "queue", Usage: "check the durable queue at `URL`, in the form of azsearch queue"},
			&cli.StringFlag{Name: "outbox", Usage: "check the outbox at `URL`, in the form of azsearch outbox"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
	}, 0, 0, runDoctor)
}

func runDoctor(ctx context.Context, c *serviceCall) error {
	if len(c.args) > 0 {
		return fmt.Errorf("unknown argument %q (see %s -help)", shown(c.args[0]), c.FullName())
	}
	f := doctor.Findings{}
	if err := doctorService(ctx, c, &f); err != nil {
		return err
	}
	if where := c.String("queue"); where != "" {
		if err := doctorQueue(ctx, &f, where); err != nil {
			f.Fail("queue", "check -queue", "%v", err)
		}
	}
	if where := c.String("outbox"); where != "" {
		err := doctorOutbox(ctx, &f, where)
		switch {
		case errors.Is(err, outbox.ErrSchema):
			f.Fail("outbox", "follow the message, then run azsearch outbox check", "%v", err)
		case err != nil:
			f.Fail("outbox", "check -outbox", "%v", err)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := c.findings(f); err != nil {
		return err
	}
	if n := f.Count(doctor.Failure); n > 0 {
		return failed(fmt.Errorf("failures: %d", n))
	}
	return nil
}

func doctorService(ctx context.Context, c *serviceCall, f *doctor.Findings) (err error) {
	endpoint := c.String("endpoint")
	if endpoint != connect.Emulator && !doctor.Endpoint(f, endpoint) {
		return nil
	}
	service, err := connect.Open(c.Command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	reached := true
	if endpoint == connect.Emulator {
		f.Ok("endpoint", "the emulator inside this command")
	} else {
		reached = doctor.NewNetwork().Check(ctx, f, service.Endpoint())
	}
	if reached {
		doctor.Service{Client: service.IndexClient, APIVersion: service.APIVersion, WithKey: service.WithKey, Index: c.String("index")}.Check(ctx, f)
	}
	return nil
}

func (c *serviceCall) findings(f doctor.Findings) error {
	if c.Bool("json") {
		return c.print(struct {
			Failures int             `json:"failures"`
			Warnings int             `json:"warnings"`
			Findings doctor.Findings `json:"findings"`
		}{f.Count(doctor.Failure), f.Count(doctor.Warning), f}, true)
	}
	paint := map[doctor.State]func(string) string{doctor.OK: c.stdout.Green, doctor.Warning: c.stdout.Yellow, doctor.Failure: c.stdout.Red}
	for _, x := range f {
		if err := c.say("%s  %-11s  %s", paint[x.State](fmt.Sprintf("%-7s", x.State)), x.Check, listing.Printable(x.Says)); err != nil {
			return err
		}
		if x.Do != "" {
			if err := c.say("%22s→ %s", "", listing.Printable(x.Do)); err != nil {
				return err
			}
		}
	}
	return nil
}

func doctorQueue(ctx context.Context, f *doctor.Findings, where string) (err error) {
	p, err := parsePlace(where, "")
	if err != nil {
		return err
	}
	q, err := p.open(reading)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	s, err := q.Stats(ctx)
	if err != nil {
		return err
	}
	var fault error
	if says, ok := q.(queue.Faulty); ok {
		fault = says.Fault()
	}
	doctor.Queue(f, p.String(), &s, fault, time.Now())
	return nil
}

func doctorOutbox(ctx context.Context, f *doctor.Findings, where string) (err error) {
	p, err := database.Parse(where)
	if err != nil {
		return err
	}
	if p.Name == "" {
		return errNoOutbox
	}
	db, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := outbox.Check(ctx, db, p.Dialect, &outbox.SchemaOptions{Prefix: p.Prefix}); err != nil {
		return err
	}
	lag, err := (&outbox.Table{Dialect: p.Dialect, Queue: p.Name, Prefix: p.Prefix}).Lag(ctx, db)
	if err == nil {
		doctor.Outbox(f, p.String(), &lag)
	}
	return err
}
