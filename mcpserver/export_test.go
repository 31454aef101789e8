package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve serves one program over any transport of the library.
func Serve(ctx context.Context, s *Server, t mcp.Transport) error { return s.serve(ctx, t) }
