package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"orchestrator-cc/protocol"
)

// The commands of a user interface.
const (
	cmdSubmit  = "submitUserInput"
	cmdConfirm = "provideConfirmation"
	cmdAnswer  = "provideDialogAnswer"
)

// Bounds of what is attached to one input.
const (
	mostAttached    = 8 << 20 // bytes of one attachment
	mostAttachments = 8
)

type userInput struct {
	Text        string       `json:"text"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	Type string `json:"type"`
	Data []byte `json:"-"`
}

// UnmarshalJSON decodes the base64, of which a browser may leave the padding
// out or write it in front as a data URL.
func (a *attachment) UnmarshalJSON(text []byte) error {
	var raw struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}
	if err := strict(text, &raw); err != nil {
		return err
	}
	if strings.HasPrefix(raw.Data, "data:") {
		_, raw.Data, _ = strings.Cut(raw.Data, ",")
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(raw.Data, "="))
	if err != nil {
		return errors.New("the data of an attachment is not base64")
	}
	a.Type, a.Data = raw.Type, data
	return nil
}

type userConfirmation struct {
	ID       string `json:"confirmationId"`
	Approved *bool  `json:"approved"`
	Scope    string `json:"scope"`
}

// command is a frame that came in, checked.
type command struct {
	input   *userInput
	confirm *userConfirmation
	answer  *dialogAnswer
}

// strict refuses fields that are not known, and anything after the value.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the value")
	}
	return nil
}

// readCommand decodes a frame and names everything that is wrong with it.
func readCommand(data []byte) (command, error) {
	var in struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if !utf8.Valid(data) {
		return command{}, protocol.Invalid("frame", "is not valid UTF-8")
	}
	if err := strict(data, &in); err != nil {
		return command{}, protocol.Invalid("frame", "is no command: %v", err).Cure(`send {"type":"%s","payload":{"text":"..."}}`, cmdSubmit)
	}
	if len(in.Payload) == 0 {
		in.Payload = json.RawMessage("{}")
	}
	switch in.Type {
	case cmdSubmit:
		var input userInput
		if err := strict(in.Payload, &input); err != nil {
			return command{}, protocol.Invalid("payload", "%v", err)
		}
		return command{input: &input}, input.check()
	case cmdConfirm:
		var confirm userConfirmation
		if err := strict(in.Payload, &confirm); err != nil {
			return command{}, protocol.Invalid("payload", "%v", err)
		}
		return command{confirm: &confirm}, confirm.check()
	case cmdAnswer:
		var answer dialogAnswer
		if err := strict(in.Payload, &answer); err != nil {
			return command{}, protocol.Invalid("payload", "%v", err)
		}
		return command{answer: &answer}, answer.check()
	}
	return command{}, protocol.Invalid("type", "is %q; use %s, %s or %s", in.Type, cmdSubmit, cmdConfirm, cmdAnswer)
}

func (u userInput) check() error {
	var bad protocol.Problems
	if strings.TrimSpace(u.Text) == "" {
		bad.Faults = append(bad.Faults, protocol.Invalid("payload.text", "is empty; say what is to be done"))
	}
	if len(u.Attachments) > mostAttachments {
		bad.Faults = append(bad.Faults, protocol.Invalid("payload.attachments", "are %d; the limit is %d", len(u.Attachments), mostAttachments))
	}
	for i, a := range u.Attachments {
		field := fmt.Sprintf("payload.attachments[%d]", i)
		switch {
		case a.Type != "image":
			bad.Faults = append(bad.Faults, protocol.Invalid(field+".type", "is %q; use image", a.Type))
		case len(a.Data) > mostAttached:
			bad.Faults = append(bad.Faults, &protocol.Fault{Code: protocol.CodeTooLarge, Field: field + ".data", Message: fmt.Sprintf("has %d bytes; the limit is %d", len(a.Data), mostAttached)})
		case a.extension() == "":
			bad.Faults = append(bad.Faults, protocol.Invalid(field+".data", "is no image; use PNG, JPEG, GIF or WebP"))
		}
	}
	if len(bad.Faults) > 0 {
		return &bad
	}
	return nil
}

// extension is what the bytes say they are, whatever anybody claims.
func (a attachment) extension() string {
	switch http.DetectContentType(a.Data) {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	}
	return ""
}

func (u userConfirmation) check() error {
	var bad protocol.Problems
	if u.ID == "" {
		bad.Faults = append(bad.Faults, protocol.Invalid("payload.confirmationId", "is missing"))
	}
	if u.Approved == nil {
		bad.Faults = append(bad.Faults, protocol.Invalid("payload.approved", "is missing"))
	}
	if !slices.Contains([]string{"", protocol.ScopeOnce, protocol.ScopeTask, protocol.ScopeAgent}, u.Scope) {
		bad.Faults = append(bad.Faults, protocol.Invalid("payload.scope", "is %q; use once, task or agent", u.Scope))
	}
	if len(bad.Faults) > 0 {
		return &bad
	}
	return nil
}

// obey carries a command out.
func (w *window) obey(ctx context.Context, kind websocket.MessageType, data []byte) error {
	s := w.server
	if !s.valid(w.caller) {
		return protocol.Faultf(protocol.CodeForbidden, "%v", errKeyGone)
	}
	if w.caller.key != nil && !s.pace.take(w.caller.key.ID, time.Now()) {
		return protocol.Faultf(protocol.CodeLimit, "too many commands").Cure("wait a second, then go slower")
	}
	if kind != websocket.MessageText {
		return protocol.Invalid("frame", "is binary; commands are JSON text")
	}
	cmd, err := readCommand(data)
	if err != nil {
		return err
	}
	if cmd.confirm != nil {
		_, err := s.resolve(ctx, w.caller, cmd.confirm.ID, Decision{Approved: *cmd.confirm.Approved, Scope: cmd.confirm.Scope})
		return err
	}
	if cmd.answer != nil {
		return w.answer(ctx, *cmd.answer)
	}
	if fault := lacks(w.caller, ScopeSubmit); fault != nil {
		return fault
	}
	files, err := s.keep(cmd.input.Attachments)
	if err != nil {
		return err
	}
	text := cmd.input.Text
	if len(files) > 0 {
		text += "\n\nAttached files:\n- " + strings.Join(files, "\n- ")
	}
	_, err = s.take(ctx, w.caller, taskInput{UserPrompt: text, TaskType: "chat"}, "")
	return err
}

// keep stores attachments where the agents can read them, each in a file that
// nobody can guess, and returns their paths.
func (s *Server) keep(attached []attachment) ([]string, error) {
	if len(attached) == 0 {
		return nil, nil
	}
	if s.options.Attachments == "" {
		return nil, protocol.Invalid("payload.attachments", "cannot be kept here")
	}
	if err := os.MkdirAll(s.options.Attachments, 0o700); err != nil {
		return nil, protocol.Faultf(protocol.CodeStorage, "the attachments could not be stored: %v", err)
	}
	var files []string
	for _, a := range attached {
		path := filepath.Join(s.options.Attachments, protocol.NewID()+a.extension())
		if err := os.WriteFile(path, a.Data, 0o600); err != nil {
			return nil, protocol.Faultf(protocol.CodeStorage, "the attachments could not be stored: %v", err)
		}
		files = append(files, path)
	}
	return files, nil
}
