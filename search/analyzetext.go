package search

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// AnalyzeTextOptions are the options of IndexClient.AnalyzeText. There are none
// yet.
type AnalyzeTextOptions struct{}

// AnalyzeText breaks a text into tokens as the index would. The request names exactly one analyzer, tokenizer or
// normalizer, either of the index or built into the service. If the index does not exist, the error is
// ErrIndexNotFound; if the component does not, it is an *Error with status 400.
func (c *IndexClient) AnalyzeText(ctx context.Context, indexName string, request models.AnalyzeTextRequest, _ *AnalyzeTextOptions) (_ models.AnalyzeTextResult, err error) {
	const operation = "AnalyzeText"
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	var none, result models.AnalyzeTextResult
	call := c.call(operation, indexName)
	if err := errors.Join(validateIndexName(indexName), c.checkAnalysis(request)); err != nil {
		return none, call.wrap(err)
	}
	body, err := encodeBody(request)
	if err != nil {
		return none, call.wrap(err)
	}
	req, err := c.conn.newRequest(ctx, http.MethodPost, c.conn.url("/indexes"+quoted(indexName)+"/search.analyze"), acceptMinimal)
	if err != nil {
		return none, call.wrap(err)
	}
	if err := lend(req, body); err != nil {
		return none, call.wrap(err)
	}
	resp, err := c.conn.send(req, call, http.StatusOK)
	if err != nil {
		return none, err
	}
	reply, err := runtime.Payload(resp)
	if err == nil {
		err = decodeInto(&result, reply)
	}
	if err == nil && result.Tokens == nil {
		err = errors.New("it has no tokens")
	}
	if err != nil {
		return none, call.wrap(malformed(err, resp))
	}
	return result, nil
}

// checkAnalysis reports all problems of a request.
func (c *IndexClient) checkAnalysis(request models.AnalyzeTextRequest) error {
	var errs []error
	var with []string
	for _, component := range []struct {
		kind  string
		given bool
	}{
		{"Analyzer", request.Analyzer != ""},
		{"Tokenizer", request.Tokenizer != ""},
		{"Normalizer", request.Normalizer != ""},
	} {
		if component.given {
			with = append(with, component.kind)
		}
	}
	switch len(with) {
	case 0:
		errs = append(errs, errors.New("nothing to analyze the text with: set Analyzer, Tokenizer or Normalizer"))
	case 1:
	default:
		errs = append(errs, fmt.Errorf("%s are set: set one of them", strings.Join(with, " and ")))
	}
	if request.Tokenizer == "" && len(request.TokenFilters)+len(request.CharFilters) > 0 {
		errs = append(errs, errors.New("TokenFilters and CharFilters need a Tokenizer"))
	}
	if request.Normalizer != "" {
		if err := missing(c.conn.apiVersion, apiversion.AnalyzeNormalizer); err != nil {
			errs = append(errs, fmt.Errorf("normalizer: %w", err))
		}
	}
	if err := validText(request.Text); err != nil {
		errs = append(errs, fmt.Errorf("the text %w", err))
	}
	return errors.Join(errs...)
}
