package api

import (
	_ "embed"
	"net/http"
)

// docsPage draws the description of the interface. It fetches nothing but
// /openapi.json, so it works without a network and sends nobody anything.
//
//go:embed docs.html
var docsPage []byte

func (s *Server) docs(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'")
	_, _ = w.Write(docsPage) // A reader who went away needs no answer.
}
