package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"orchestrator-cc/api"
	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
)

// port is the HTTP interface beside the socket; without a listener it is shut.
type port struct {
	listener    net.Listener
	names       []string
	url         string
	fingerprint string
}

// openPort opens the address the hub was started with, or the configured one.
func openPort(o hubOptions, cfg config.Config) (*port, error) {
	address := o.listen
	if address == "" {
		address = cfg.API.Listen
	}
	if address == "" {
		return &port{}, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("open the HTTP interface: %w", err)
	}
	cert, err := certificate(o.place, cfg.API.TLS, host)
	if err != nil {
		return nil, fmt.Errorf("open the HTTP interface: %w", err)
	}
	l, err := api.ListenTCP(address, cert)
	if errors.Is(err, api.ErrNeedsTLS) {
		return nil, withHint(fmt.Errorf("open the HTTP interface: %w", err), "set api.tls in the configuration, or listen on 127.0.0.1")
	}
	if err != nil {
		// In the error, not beside it: up reads it in the hub's diary.
		return nil, fmt.Errorf("open the HTTP interface: %w; choose another port with --port, or in api.listen of the configuration", err)
	}
	p := &port{listener: l, names: []string{host}, url: "http://" + l.Addr().String()}
	if cert != nil {
		p.names = append(p.names, cert.Names...)
		p.url, p.fingerprint = "https://"+l.Addr().String(), cert.Fingerprint
	}
	return p, nil
}

// certificate is the configured one, a self-made one, or none.
func certificate(p place, t config.TLS, host string) (*api.Certificate, error) {
	switch {
	case t.Cert != "":
		return api.LoadCertificate(t.Cert, t.Key)
	case t.SelfMade:
		return api.OwnCertificate(p.tls(), host)
	}
	return nil, nil
}

// apiOptions is what the server is told of the configuration.
func apiOptions(o hubOptions, cfg config.Config) api.Options {
	approvals := map[string]protocol.Policy{}
	for _, a := range cfg.Agents {
		approvals[a.Name] = a.Approvals
	}
	return api.Options{
		Version: version(), Log: o.log, Keys: api.NewKeys(o.place.keys()), Attachments: o.place.attachments(),
		MCP:       mcpHandler(cfg.Cluster.WorkDir),
		Approvals: func(agent string) protocol.Policy { return approvals[agent] }, WorkDir: cfg.Cluster.WorkDir,
		Routing: map[string]string{
			"chat": cfg.Routing.Chat, "command_execution": cfg.Routing.CommandExecution,
			"file_operation": cfg.Routing.FileOperation, "complex_task": cfg.Routing.ComplexTask,
		},
	}
}

// serve answers until ctx ends; one that is shut has nothing to answer.
func (p *port) serve(ctx context.Context, s *api.Server) error {
	if p.listener == nil {
		<-ctx.Done()
		return nil
	}
	return s.ServeTCP(ctx, p.listener, p.names)
}

// Close closes the listener; it may be called twice.
func (p *port) Close() {
	if p.listener != nil {
		_ = p.listener.Close() // The server has closed it already, or never began.
	}
}

// portAddress is the loopback address of a port given on the command line.
func portAddress(port string) (string, error) {
	if port == "" {
		return "", nil
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", usagef("--port is %q; use a number from 0 to 65535 (other addresses: api.listen in the configuration)", port)
	}
	return net.JoinHostPort("127.0.0.1", port), nil
}

// httpWay tells how programs come in, where they can.
func httpWay(card hubCard) string {
	if card.URL == "" {
		return ""
	}
	text := fmt.Sprintf("program     %s   (make a key: orchestrator-cc keys add NAME --scope read --scope submit)\n", card.URL)
	if card.Fingerprint != "" {
		text += fmt.Sprintf("certificate SHA-256 %s\n", card.Fingerprint)
	}
	return text
}
