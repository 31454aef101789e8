package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"orchestrator-cc/protocol"
)

// Problem is the body of every answer that is an error.
type Problem struct {
	Error ProblemError `json:"error"`

	status int
}

// ProblemError says what went wrong: for programs, for people, and where.
type ProblemError struct {
	Code    protocol.Code   `json:"code"`
	Message string          `json:"message"`
	Details *ProblemDetails `json:"details,omitempty"`
}

// ProblemDetails names the fields at fault and the cures.
type ProblemDetails struct {
	Field  string            `json:"field,omitempty"`
	Hint   string            `json:"hint,omitempty"`
	Faults []*protocol.Fault `json:"faults,omitempty"` // all of them, where there are several
}

// refusal carries a Problem through huma, which asks an error for its status.
type refusal struct{ problem Problem }

func (r *refusal) Error() string  { return r.problem.Error.Message }
func (r *refusal) GetStatus() int { return r.problem.status }

// MarshalJSON writes the problem itself.
func (r *refusal) MarshalJSON() ([]byte, error) { return json.Marshal(r.problem) }

// refuse turns an error of the hub into an answer.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return &refusal{problem: problemOf(err)}
}

func problemOf(err error) Problem {
	var several *protocol.Problems
	if errors.As(err, &several) && len(several.Faults) > 1 {
		first := several.Faults[0]
		return Problem{
			Error:  ProblemError{Code: first.Code, Message: err.Error(), Details: &ProblemDetails{Field: first.Field, Faults: several.Faults}},
			status: statusOf(first.Code),
		}
	}
	var fault *protocol.Fault
	if !errors.As(err, &fault) {
		return Problem{Error: ProblemError{Code: protocol.CodeInternal, Message: err.Error()}, status: http.StatusInternalServerError}
	}
	p := Problem{Error: ProblemError{Code: fault.Code, Message: fault.Message}, status: statusOf(fault.Code)}
	if fault.Field != "" || fault.Hint != "" {
		p.Error.Details = &ProblemDetails{Field: fault.Field, Hint: fault.Hint}
	}
	return p
}

// statusOf maps the codes that reach a caller to HTTP.
func statusOf(code protocol.Code) int {
	switch code {
	case protocol.CodeInvalid, protocol.CodeVersion, protocol.CodeMention, protocol.CodeExpired:
		return http.StatusBadRequest
	case protocol.CodeForbidden, protocol.CodeImpostor:
		return http.StatusForbidden
	case protocol.CodeNotFound, protocol.CodeUnknownAgent:
		return http.StatusNotFound
	case protocol.CodeDuplicate, protocol.CodeConflict, protocol.CodeCancelled:
		return http.StatusConflict
	case protocol.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case protocol.CodeLimit:
		return http.StatusTooManyRequests
	}
	return http.StatusInternalServerError
}

// codeOf names the statuses that huma itself answers with.
func codeOf(status int) protocol.Code {
	switch status {
	case http.StatusNotFound:
		return protocol.CodeNotFound
	case http.StatusRequestEntityTooLarge:
		return protocol.CodeTooLarge
	case http.StatusForbidden, http.StatusUnauthorized:
		return protocol.CodeForbidden
	}
	if status >= http.StatusInternalServerError {
		return protocol.CodeInternal
	}
	return protocol.CodeInvalid
}

// newRoutes makes the huma API: JSON only, and our errors instead of its own.
func newRoutes(mux *http.ServeMux, version string) huma.API {
	config := huma.DefaultConfig("orchestrator-cc", version)
	config.Formats = map[string]huma.Format{"application/json": strictJSON(), "json": strictJSON()}
	config.CreateHooks = nil // No links to schemas inside the answers.
	config.DocsPath, config.SchemasPath = "", ""
	config.Transformers = []huma.Transformer{ownErrors}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		keySecurity: {Type: "http", Scheme: "bearer", Description: "A key of orchestrator-cc keys add; on the unix socket none is needed."},
	}
	config.Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	return huma.NewAPI(config, badRequests{humago.NewAdapter(mux, "")})
}

// strictJSON refuses bytes that are no text; the decoder would replace them.
func strictJSON() huma.Format {
	format := huma.DefaultJSONFormat
	format.Unmarshal = func(data []byte, v any) error {
		if !utf8.Valid(data) {
			return errors.New("the body is not valid UTF-8")
		}
		return json.Unmarshal(data, v)
	}
	return format
}

// ownErrors replaces huma's error model by a Problem.
func ownErrors(ctx huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	ctx.SetHeader("Content-Type", "application/json")
	p := Problem{Error: ProblemError{Code: codeOf(model.Status), Message: model.Detail}}
	var faults []*protocol.Fault
	for _, e := range model.Errors {
		if e != nil {
			faults = append(faults, &protocol.Fault{Code: protocol.CodeInvalid, Field: strings.TrimPrefix(e.Location, "body."), Message: e.Message})
		}
	}
	if len(faults) > 0 {
		p.Error.Message = fmt.Sprintf("%s: %s", model.Detail, (&protocol.Problems{Faults: faults}).Error())
		p.Error.Details = &ProblemDetails{Field: faults[0].Field, Faults: faults}
	}
	return p, nil
}

// badRequests says 400 where huma says 422. Its way to change that is a global
// variable, which two servers in one process would share.
type badRequests struct{ huma.Adapter }

func (a badRequests) Handle(op *huma.Operation, handler func(huma.Context)) {
	a.Adapter.Handle(op, func(ctx huma.Context) { handler(plainStatus{ctx}) })
}

// humaContext has another name than its method Context, so that it can be embedded.
type humaContext huma.Context

type plainStatus struct{ humaContext }

func (c plainStatus) SetStatus(code int) {
	if code == http.StatusUnprocessableEntity {
		code = http.StatusBadRequest
	}
	c.humaContext.SetStatus(code)
}

// Unwrap leads humago.Unwrap to its own context.
func (c plainStatus) Unwrap() huma.Context { return c.humaContext }

// problemResponse documents the one shape of errors.
func problemResponse() *huma.Response {
	schema := &huma.Schema{Ref: "#/components/schemas/Problem"}
	return &huma.Response{Description: "Error", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

// noRoute answers what no route takes: a path that is not there, or a method
// that is not for it.
func noRoute(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" && method != r.Method {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			refuseAs(w, http.StatusMethodNotAllowed, protocol.Faultf(protocol.CodeInvalid, "%s is not for %s", r.Method, r.URL.Path).Cure("use %s", strings.Join(allowed, " or ")))
			return
		}
		refusePlain(w, protocol.Faultf(protocol.CodeNotFound, "there is no route %s %s", r.Method, r.URL.Path).Cure("GET /openapi.json lists them"))
	}
}

// bounded refuses a body that says it is too large, and reads some of it away:
// a caller that is still writing when the connection closes never sees why.
func bounded(next http.Handler) http.Handler {
	const patience = 4 * maxBody
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength <= maxBody {
			next.ServeHTTP(w, r)
			return
		}
		refusePlain(w, protocol.Faultf(protocol.CodeTooLarge, "the body has %d bytes; the limit is %d", r.ContentLength, maxBody).
			Cure("send a shorter text, or put it into a file and name the file"))
		_, _ = io.CopyN(io.Discard, r.Body, patience) // Courtesy only; the answer is written.
	})
}

// refusePlain answers with an error outside huma.
func refusePlain(w http.ResponseWriter, err error) { refuseAs(w, problemOf(err).status, err) }

func refuseAs(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problemOf(err)) // A reader who went away needs no answer.
}

// writeProblem answers before any handler has run.
func writeProblem(ctx huma.Context, status int, err error) {
	ctx.SetHeader("Content-Type", "application/json")
	ctx.SetStatus(status)
	_ = json.NewEncoder(ctx.BodyWriter()).Encode(problemOf(err)) // A reader who went away needs no answer.
}
