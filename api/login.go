package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"orchestrator-cc/protocol"
)

// A browser cannot put a header on an event stream or a WebSocket, so it shows
// its key once and gets a cookie instead. The cookie is not the key: it names
// it, and is signed with the key's hash, so it needs no memory of the server's
// and ends with the key.
const (
	cookieName = "orchestrator_cc"
	cookieLife = 12 * time.Hour
)

type login struct {
	Body struct {
		Key string `json:"key" minLength:"1" maxLength:"256"`
	}
}

// LoggedIn is the answer to POST /login.
type LoggedIn struct {
	Name    string    `json:"name"`
	Scopes  []Scope   `json:"scopes"`
	Expires time.Time `json:"expires"`
}

type loggedIn struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      LoggedIn
}

func (s *Server) loginRoutes(api huma.API) {
	op := route("login", http.MethodPost, "/login", "Trade a key for a cookie, for browsers", "")
	huma.Register(api, op, s.login)
}

func (s *Server) login(ctx context.Context, in *login) (*loggedIn, error) {
	if s.options.Keys == nil {
		return nil, refuse(protocol.Faultf(protocol.CodeNotFound, "there are no keys here"))
	}
	key, ok, err := s.options.Keys.find(in.Body.Key)
	now := time.Now().UTC()
	if err != nil {
		return nil, refuse(err)
	}
	if !ok || key.Expired(now) {
		p := problemOf(protocol.Faultf(protocol.CodeForbidden, "this key is not known here").Cure("orchestrator-cc keys list"))
		p.status = http.StatusUnauthorized
		return nil, &refusal{problem: p}
	}
	expires := now.Add(cookieLife)
	if !key.Expires.IsZero() && key.Expires.Before(expires) {
		expires = key.Expires
	}
	secure, _ := ctx.Value(secureKey{}).(bool)
	return &loggedIn{
		SetCookie: http.Cookie{
			Name: cookieName, Value: cookieValue(key, expires), Path: "/", Expires: expires,
			HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
		},
		Body: LoggedIn{Name: key.Name, Scopes: key.Scopes, Expires: expires},
	}, nil
}

// secureKey marks requests that came over TLS.
type secureKey struct{}

func cookieValue(k Key, expires time.Time) string {
	base := k.ID + "." + strconv.FormatInt(expires.Unix(), 10)
	return base + "." + signature(k, base)
}

func signature(k Key, text string) string {
	mac := hmac.New(sha256.New, []byte(k.Hash))
	mac.Write([]byte("cookie " + text))
	return hex.EncodeToString(mac.Sum(nil))
}

func (s *Server) readCookie(value string, now time.Time) (Key, bool) {
	parts := strings.Split(value, ".")
	if len(parts) != 3 {
		return Key{}, false
	}
	key, ok := s.options.Keys.byID(parts[0])
	until, err := strconv.ParseInt(parts[1], 10, 64)
	if !ok || err != nil || !hmac.Equal([]byte(parts[2]), []byte(signature(key, parts[0]+"."+parts[1]))) {
		return Key{}, false
	}
	return key, now.Before(time.Unix(until, 0))
}
