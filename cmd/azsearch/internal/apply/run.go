package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Check returns an error if a step is not in place, or needs a downtime that is not allowed. It changes nothing.
func (p *Plan) Check() error {
	var errs []error
	for i := range p.Steps {
		s := &p.Steps[i]
		switch cost := s.Cost(); {
		case cost == Rebuild && s.Rebuild != nil && p.options.Fill != nil: // Run makes it
		case cost != InPlace:
			errs = append(errs, fmt.Errorf("%s %s%s", s, map[Cost]string{Rebuild: "needs a rebuild", Refused: "is refused"}[cost], map[Cost]string{Rebuild: s.instead}[cost]))
		case s.Downtime && !p.options.Downtime:
			errs = append(errs, fmt.Errorf("%s would be offline for some seconds: add -downtime", s))
		}
	}
	if errs == nil {
		return nil
	}
	return exit.With(exit.Incomplete, fmt.Errorf("nothing was changed: %w; see the plan, or apply single files", errors.Join(errs...)))
}

// Run carries out the plan, after Check. It calls done after each step. The error says how many steps are done.
func (p *Plan) Run(ctx context.Context, service *connect.Service, done func(*Step)) error {
	if err := p.Check(); err != nil {
		return err
	}
	applied := 0
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.by {
			continue
		}
		if err := p.step(ctx, service, s); err != nil {
			return exit.With(exit.Code(err), fmt.Errorf("applied %d of %s, then %s: %w; correct that and run it again", applied, amount.Of(len(p.Steps), "definition"), s, p.masked(s, err)))
		}
		done(s)
		applied++
	}
	return nil
}

// step creates a definition, rebuilds an index, or changes it if it still has the ETag of the compared version.
func (p *Plan) step(ctx context.Context, service *connect.Service, s *Step) error {
	if s.Rebuild != nil {
		return p.renew(ctx, s.Rebuild)
	}
	content, err := s.definition.Expand(p.variables)
	if err != nil {
		return err
	}
	if s.Create {
		err = s.definition.Kind.Create(ctx, service, content)
		if said := (*search.Error)(nil); errors.As(err, &said) && said.StatusCode == 409 {
			return exit.With(exit.Incomplete, errors.New("not created, because it was created in the service after the plan was made"))
		}
		return err
	}
	if s.etag != "" { // the client sends it as If-Match
		etag, _ := json.Marshal(s.etag) // a string always marshals
		content = slices.Concat([]byte(`{"@odata.etag":`), etag, []byte(","), bytes.TrimSpace(content)[1:])
	}
	if s.definition.Kind == definitions.Indexes {
		var index models.SearchIndex
		if err := json.Unmarshal(content, &index); err != nil {
			return err
		}
		_, err = service.CreateOrUpdateIndex(ctx, index, &search.CreateOrUpdateIndexOptions{AllowIndexDowntime: p.options.Downtime})
		err = connect.Failed(err)
	} else {
		err = s.definition.Kind.Put(ctx, service, content)
	}
	if errors.Is(err, search.ErrPreconditionFailed) {
		return exit.With(exit.Incomplete, errors.New("not changed, because it was changed or deleted in the service after the plan was made"))
	}
	return err
}

// renew carries out a rebuild.
func (p *Plan) renew(ctx context.Context, r *Rebuilding) error {
	var next models.SearchIndex
	if !r.Exists {
		content, err := r.definition.Expand(p.variables)
		if err == nil {
			err = json.Unmarshal(content, &next)
		}
		if err != nil {
			return err
		}
	}
	return p.options.Fill(ctx, r, next)
}

// masked replaces the values of variables in an error by their names. Values of up to three bytes are not replaced.
func (p *Plan) masked(s *Step, err error) error {
	text := err.Error()
	for _, secret := range s.definition.Secrets {
		if value, ok := p.variables(secret.Variable); ok && len(value) > 3 {
			text = strings.ReplaceAll(text, value, "${"+secret.Variable+"}")
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
