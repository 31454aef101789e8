package api

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// The authorization schemes: a pane's secret on the socket, a key on TCP.
const (
	paneScheme = "Pane "
	keyScheme  = "Bearer "
)

// sessionHeader names the session of a request whose shape has no room for it.
const sessionHeader = "X-Session-Id"

// localGate finds out who speaks on the socket. It is closed to everybody but
// its owner, so whoever shows no credentials there is the user; a pane's secret
// proves that the caller sits in that agent's pane.
func (s *Server) localGate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := caller{who: protocol.FromUser(), pid: peerOf(r.Context())}
		if credentials := r.Header.Get("Authorization"); credentials != "" {
			agent, known := s.hub.Caller(strings.TrimPrefix(credentials, paneScheme))
			if !strings.HasPrefix(credentials, paneScheme) || !known {
				refuseAs(w, http.StatusUnauthorized, protocol.Faultf(protocol.CodeForbidden, "these credentials are not known here").
					Cure("unset ORCHESTRATOR_CC_SECRET, or run this in a pane of the running session"))
				return
			}
			c = s.atWork(agent, c.pid)
			next.ServeHTTP(w, r.WithContext(withCaller(r.Context(), c)))
			return
		}
		s.enter(w, r, c, next)
	})
}

// atWork is an agent as a caller: it is in the session of the task it is at,
// whatever it names, so that it can tell nobody there of another session. What
// the owner asks is of no session, and between tasks an agent is in none.
func (s *Server) atWork(agent protocol.Identifier, pid int) caller {
	c := caller{who: agent, pid: pid, named: true}
	for _, a := range s.hub.Overview().Agents {
		if a.Name != agent.AgentID || a.Task == "" {
			continue
		}
		if t, err := s.hub.Task(a.Task); err == nil {
			c.session = t.Session
		}
	}
	return c
}

// enter puts the caller into the session he names and lets him in.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, c caller, next http.Handler) {
	name := r.Header.Get(sessionHeader)
	if name == "" {
		name = r.URL.Query().Get("sessionId")
	}
	c, err := c.in(name)
	if err != nil {
		refusePlain(w, err)
		return
	}
	next.ServeHTTP(w, r.WithContext(withCaller(r.Context(), c)))
}

// open are the routes that need no key: how a key is shown, and what is no
// secret.
func openRoute(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/login" ||
		r.Method == http.MethodGet && slices.Contains([]string{"/docs", "/openapi.json"}, r.URL.Path)
}

// remoteGate keeps TCP: the Host and the Origin are ours, the key is known and
// neither expired nor in too much of a hurry.
func (s *Server) remoteGate(names []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := checkHost(r, names); fault != nil {
			refuseAs(w, http.StatusForbidden, fault)
			return
		}
		if openRoute(r) {
			if !s.pace.take(guest(r), time.Now()) {
				refuseHurry(w)
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		key, fault := s.keyOf(r)
		if fault != nil {
			status := http.StatusUnauthorized
			if !s.pace.take(guest(r), time.Now()) {
				refuseHurry(w)
				return
			}
			w.Header().Set("WWW-Authenticate", strings.TrimSpace(keyScheme))
			refuseAs(w, status, fault)
			return
		}
		if !s.pace.take(key.ID, time.Now()) {
			refuseHurry(w)
			return
		}
		s.enter(w, r, caller{who: protocol.FromUser(), key: &key}, next)
	})
}

// checkHost refuses what a page of somebody else's can bring a browser to
// send: a name that was pointed at this machine, or another page's origin.
func checkHost(r *http.Request, names []string) *protocol.Fault {
	host := hostOnly(r.Host)
	_, err := netip.ParseAddr(host)
	if err != nil && host != "localhost" && !slices.Contains(names, host) {
		return protocol.Faultf(protocol.CodeForbidden, "the host %q is not this server", host).Cure("use its address, or a name in its certificate")
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	if !strings.EqualFold(origin, scheme+r.Host) {
		return protocol.Faultf(protocol.CodeForbidden, "a page of %q may not speak to this server", origin).Cure("serve the page from the same host and port")
	}
	return nil
}

func hostOnly(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// keyOf is the key of a request: in the header, or in the cookie that /login
// gave a browser, which can set no headers on event streams and WebSockets.
func (s *Server) keyOf(r *http.Request) (Key, *protocol.Fault) {
	none := protocol.Faultf(protocol.CodeForbidden, "a key is needed").Cure("orchestrator-cc keys add NAME --scope read --scope submit; then send it as: Authorization: Bearer KEY")
	if s.options.Keys == nil {
		return Key{}, none
	}
	text, inHeader := strings.CutPrefix(r.Header.Get("Authorization"), keyScheme)
	var key Key
	ok := false
	if inHeader {
		found, known, err := s.options.Keys.find(text)
		if err != nil {
			s.options.Log.Error().Err(err).Msg("keys not readable")
		}
		key, ok = found, known
	} else if cookie, err := r.Cookie(cookieName); err == nil {
		key, ok = s.readCookie(cookie.Value, time.Now())
	} else {
		return Key{}, none
	}
	switch {
	case !ok:
		return Key{}, protocol.Faultf(protocol.CodeForbidden, "this key is not known here").Cure("orchestrator-cc keys list")
	case key.Expired(time.Now()):
		return Key{}, protocol.Faultf(protocol.CodeForbidden, "this key has expired").Cure("orchestrator-cc keys add makes a new one")
	}
	return key, nil
}

// valid tells whether a caller let in earlier would still be let in: a stream
// outlives its key by one event at most.
func (s *Server) valid(c caller) bool {
	if c.key == nil {
		return true
	}
	key, ok := s.options.Keys.recent(c.key.ID)
	return ok && !key.Expired(time.Now())
}

// guest names a caller without a key.
func guest(r *http.Request) string { return "from " + hostOnly(r.RemoteAddr) }

func refuseHurry(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	refusePlain(w, protocol.Faultf(protocol.CodeLimit, "too many requests").Cure("wait a second, then go slower"))
}

// need lets only those in who have a scope; it is for routes outside huma.
func (s *Server) need(scope Scope, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if fault := lacks(callerOf(r.Context()), scope); fault != nil {
			refusePlain(w, fault)
			return
		}
		next(w, r)
	}
}

func lacks(c caller, scope Scope) *protocol.Fault {
	if c.may(scope) {
		return nil
	}
	if c.key == nil {
		return protocol.Faultf(protocol.CodeForbidden, "%s may not do this; only a person may", c.who.AgentID)
	}
	return protocol.Faultf(protocol.CodeForbidden, "the key %s has not the scope %s", c.key.Name, scope).
		Cure("orchestrator-cc keys add NAME --scope %s", scope)
}
