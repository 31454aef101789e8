package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"orchestrator-cc/protocol"
)

// paneScheme is the authorization scheme of programs inside panes.
const paneScheme = "Pane "

type senderKey struct{}

// identify finds out who speaks. The socket is closed to everybody but its
// owner, so whoever shows no credentials there is the user; a pane's secret
// proves that the caller sits in that agent's pane.
func (s *Server) identify(ctx huma.Context, next func(huma.Context)) {
	credentials := ctx.Header("Authorization")
	if credentials == "" {
		next(huma.WithValue(ctx, senderKey{}, protocol.FromUser()))
		return
	}
	if secret, ok := strings.CutPrefix(credentials, paneScheme); ok {
		if agent, known := s.hub.Caller(secret); known {
			next(huma.WithValue(ctx, senderKey{}, agent))
			return
		}
	}
	writeProblem(ctx, http.StatusUnauthorized,
		protocol.Faultf(protocol.CodeForbidden, "these credentials are not known here").Cure("unset ORCHESTRATOR_CC_SECRET, or run this in a pane of the running session"))
}

// sender is who speaks in a request that passed identify.
func sender(ctx context.Context) protocol.Identifier {
	who, ok := ctx.Value(senderKey{}).(protocol.Identifier)
	if !ok {
		return protocol.Identifier{}
	}
	return who
}

// prove checks that a message names no other sender than the proved one.
func prove(ctx context.Context, claimed string) (protocol.Identifier, error) {
	who := sender(ctx)
	if claimed == "" || claimed == who.AgentID {
		return who, nil
	}
	fault := protocol.Faultf(protocol.CodeImpostor, "names %s, but the sender is %s", claimed, who.AgentID)
	fault.Field = "header.from.agent_id"
	return who, fault.Cure("leave the sender out: it is proved, not claimed")
}
