package api

import (
	"context"
	"net/http"
	"net/url"

	"orchestrator-cc/protocol"
)

// Waker lets whoever sits in a pane say that there is news of it.
type Waker interface {
	// Poke makes the hub look at an agent's channel now. It does not wait.
	Poke(agent string)
}

// poke is for the programs in panes, and so for the socket alone: who holds an
// agent's secret has written to its spool, and need not wait until the hub
// looks there by itself.
func (s *Server) poke(w http.ResponseWriter, r *http.Request) {
	name, c := r.PathValue("name"), callerOf(r.Context())
	if c.key != nil || c.who.AgentID != name && c.who.AgentID != protocol.User {
		refusePlain(w, protocol.Faultf(protocol.CodeForbidden, "%s is poked from its own pane", name))
		return
	}
	s.hub.Poke(name)
	w.WriteHeader(http.StatusNoContent)
}

// Poke tells the hub that an agent's spool has news.
func (c *Client) Poke(ctx context.Context, agent string) error {
	resp, err := c.request(ctx, http.MethodPost, "/agents/"+url.PathEscape(agent)+"/poke", nil, 0)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
