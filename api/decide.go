package api

import (
	"context"
	"net/http"
	"net/url"

	"orchestrator-cc/protocol"
)

// Confirm asks for approval from inside a pane and waits for the decision,
// across restarts of the hub: the question has its id before it is asked.
func (c *Client) Confirm(ctx context.Context, ask Ask) (protocol.Confirmation, error) {
	if ask.ID == "" {
		ask.ID = protocol.NewID()
	}
	for {
		var item protocol.Confirmation
		patience, cancel := context.WithTimeout(ctx, restartPatience)
		err := c.untilReachable(patience, func() error {
			return c.do(ctx, http.MethodPost, "/confirmations", ask, &item)
		})
		cancel()
		if protocol.CodeOf(err) == protocol.CodeTimeout && err != nil {
			continue // It is being recorded; CodeTimeout comes only after a long wait.
		}
		if err != nil || item.State != protocol.ConfirmationPending {
			return item, err
		}
	}
}

// Confirmations lists the tool calls that wait for a person, or did lately.
func (c *Client) Confirmations(ctx context.Context) ([]protocol.Confirmation, error) {
	var l ConfirmationList
	err := c.do(ctx, http.MethodGet, "/confirmations", nil, &l)
	return l.Confirmations, err
}

// Decide approves or denies a tool call.
func (c *Client) Decide(ctx context.Context, id string, d Decision) (item protocol.Confirmation, err error) {
	return item, c.do(ctx, http.MethodPost, "/confirmations/"+url.PathEscape(id), d, &item)
}

// Rules lists what people have decided for more than one call.
func (c *Client) Rules(ctx context.Context) ([]protocol.StandingRule, error) {
	var l RuleList
	err := c.do(ctx, http.MethodGet, "/confirmations/rules", nil, &l)
	return l.Rules, err
}

// Revoke ends such a decision.
func (c *Client) Revoke(ctx context.Context, id string) (r protocol.StandingRule, err error) {
	return r, c.do(ctx, http.MethodDelete, "/confirmations/rules/"+url.PathEscape(id), nil, &r)
}
