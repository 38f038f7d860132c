package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"net/textproto"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models/knowledge"
)

// GetKnowledgeSourceStatusOptions are the options of
// IndexClient.GetKnowledgeSourceStatus. There are none yet.
type GetKnowledgeSourceStatusOptions struct{}

// GetKnowledgeSourceStatus returns how far a knowledge source has copied its content.
func (c *IndexClient) GetKnowledgeSourceStatus(ctx context.Context, name string, _ *GetKnowledgeSourceStatusOptions) (knowledge.SourceStatus, error) {
	return getPart[knowledge.SourceStatus](ctx, c.manager, knowledgeSourceKind(), "GetKnowledgeSourceStatus", name, "/status")
}

// UploadKnowledgeSourceFileOptions are the options of
// IndexClient.UploadKnowledgeSourceFile. There are none yet.
type UploadKnowledgeSourceFileOptions struct{}

// UploadKnowledgeSourceFile adds a file to a knowledge source of the kind File. The content is read into memory. The
// request is not retried: each adds a file with an id of its own. After an error without a status the file may have
// been added; ListKnowledgeSourceFiles shows it. It needs api-version 2026-10-01 or 2026-08-01-preview.
func (c *IndexClient) UploadKnowledgeSourceFile(ctx context.Context, source string, file knowledge.FileMetadata, content io.Reader, _ *UploadKnowledgeSourceFileOptions) (knowledge.SourceFile, error) {
	return c.sendFile(ctx, "UploadKnowledgeSourceFile", http.MethodPost, source, "", file, content, http.StatusCreated)
}

// UpdateKnowledgeSourceFileOptions are the options of
// IndexClient.UpdateKnowledgeSourceFile. There are none yet.
type UpdateKnowledgeSourceFileOptions struct{}

// UpdateKnowledgeSourceFile replaces a file and the documents that were indexed from it. It can be retried. See
// UploadKnowledgeSourceFile.
func (c *IndexClient) UpdateKnowledgeSourceFile(ctx context.Context, source, fileID string, file knowledge.FileMetadata, content io.Reader, _ *UpdateKnowledgeSourceFileOptions) (knowledge.SourceFile, error) {
	if fileID == "" {
		return knowledge.SourceFile{}, knowledgeSourceKind().call("UpdateKnowledgeSourceFile", source).wrap(errNoFile)
	}
	return c.sendFile(ctx, "UpdateKnowledgeSourceFile", http.MethodPut, source, quoted(fileID), file, content, http.StatusOK)
}

var errNoFile = errors.New("the id of the file is empty")

// ListKnowledgeSourceFilesOptions are the options of
// IndexClient.ListKnowledgeSourceFiles. nil and the zero value are ready to use.
type ListKnowledgeSourceFilesOptions struct {
	// Folder lists only the files in this folder, the prefix of their names. Defaults to all.
	Folder string
	// Prefix and PageSize have the meaning of ListIndexesOptions.
	Prefix   string
	PageSize int
}

// ListKnowledgeSourceFiles returns the files of a knowledge source. Each iteration makes the request again when it
// starts. An error ends the iteration and is yielded with a zero file.
func (c *IndexClient) ListKnowledgeSourceFiles(ctx context.Context, source string, opts *ListKnowledgeSourceFilesOptions) iter.Seq2[knowledge.SourceFile, error] {
	if opts == nil {
		opts = &ListKnowledgeSourceFilesOptions{}
	}
	var query []string
	if opts.Folder != "" {
		query = []string{"prefix", opts.Folder}
	}
	call := knowledgeSourceKind().call("ListKnowledgeSourceFiles", source)
	id := func(f *knowledge.SourceFile) string { return f.FileID }
	return listPages(ctx, c.manager, knowledgeSourceKind().path+quoted(source)+"/files", call, listing{opts.Prefix, opts.PageSize}, c.files(source), id, query...)
}

// DeleteKnowledgeSourceFileOptions are the options of
// IndexClient.DeleteKnowledgeSourceFile. There are none yet.
type DeleteKnowledgeSourceFileOptions struct{}

// DeleteKnowledgeSourceFile deletes a file and the documents that were indexed from it.
func (c *IndexClient) DeleteKnowledgeSourceFile(ctx context.Context, source, fileID string, _ *DeleteKnowledgeSourceFileOptions) (err error) {
	const operation = "DeleteKnowledgeSourceFile"
	ctx, end := c.span(ctx, operation)
	defer func() { end(err) }()
	call := knowledgeSourceKind().call(operation, source)
	invalid := c.files(source)
	if fileID == "" {
		invalid = errors.Join(invalid, errNoFile)
	}
	if invalid != nil {
		return call.wrap(invalid)
	}
	req, err := c.conn.newRequest(ctx, http.MethodDelete, c.fileURL(source, quoted(fileID)), acceptMinimal)
	if err != nil {
		return call.wrap(err)
	}
	_, err = c.conn.send(req, call, http.StatusNoContent)
	return err
}

// files returns an error if the api-version has no files, or the name of the source is invalid.
func (c manager) files(source string) error {
	return errors.Join(knowledgeSourceKind().check(source), missing(c.conn.apiVersion, apiversion.KnowledgeFiles))
}

func (c manager) fileURL(source, file string) string {
	return c.conn.url(knowledgeSourceKind().path + quoted(source) + "/files" + file)
}

// sendFile sends a file as two parts: metadata in JSON, then the content.
func (c manager) sendFile(ctx context.Context, operation, method, source, path string, file knowledge.FileMetadata, content io.Reader, status int) (sent knowledge.SourceFile, err error) {
	ctx, end := c.span(ctx, operation)
	defer func() { end(err) }()
	if method == http.MethodPost {
		ctx = policy.WithRetryOptions(ctx, c.conn.noRetries)
	}
	var none knowledge.SourceFile
	call := knowledgeSourceKind().call(operation, source)
	if err := c.files(source); err != nil {
		return none, call.wrap(err)
	}
	body, contentType, err := multipartFile(file, content)
	if err != nil {
		return none, call.wrap(err)
	}
	req, err := c.conn.newRequest(ctx, method, c.fileURL(source, path), "application/json")
	if err != nil {
		return none, call.wrap(err)
	}
	if err := lend(req, body); err != nil {
		return none, call.wrap(err)
	}
	req.Raw().Header.Set("Content-Type", contentType)
	resp, err := c.conn.send(req, call, status)
	if err != nil {
		return none, err
	}
	if err := runtime.UnmarshalAsJSON(resp, &sent); err != nil {
		return none, call.wrap(malformed(err, resp))
	}
	return sent, nil
}

func multipartFile(file knowledge.FileMetadata, content io.Reader) (body []byte, contentType string, err error) {
	if content == nil {
		return nil, "", errors.New("the content is nil")
	}
	metadata, err := encodeBody(file)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="metadata"`}, "Content-Type": {"application/json"}})
	if err == nil {
		_, err = part.Write(metadata)
	}
	if err == nil {
		part, err = w.CreateFormFile("content", file.FileName)
	}
	if err != nil {
		return nil, "", err
	}
	if _, err := io.Copy(part, content); err != nil {
		return nil, "", fmt.Errorf("the content: %w", err)
	}
	err = w.Close()
	return b.Bytes(), w.FormDataContentType(), err
}
