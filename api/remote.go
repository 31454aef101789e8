package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// NewRemote makes a client of a hub elsewhere, by its address and a key. A
// fingerprint names the one certificate to trust, which a self-made one needs;
// without it the system's authorities decide.
func NewRemote(address, key, fingerprint string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the hub's address %q is none; write it as https://host:8000", address)
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return nil, fmt.Errorf("the hub's address %s: a key must not cross a network in the clear; use https", address)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, host string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, host)
		if err != nil {
			return nil, fmt.Errorf("%w at %s: %w", ErrUnreachable, host, err)
		}
		return conn, nil
	}}
	if fingerprint != "" {
		want, err := hex.DecodeString(strings.ReplaceAll(fingerprint, ":", ""))
		if err != nil || len(want) != sha256.Size {
			return nil, errors.New("the certificate's fingerprint is not a SHA-256 sum in hex")
		}
		transport.TLSClientConfig = pinned(want)
	}
	c := &Client{base: strings.TrimSuffix(u.Scheme+"://"+u.Host+u.Path, "/"), http: &http.Client{Transport: transport}}
	if key != "" {
		c.credentials = keyScheme + key
	}
	return c, nil
}

// pinned trusts one certificate and no authority: what the handshake proves is
// that the other side holds its key.
func pinned(want []byte) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // The check below stands in for the authorities.
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) == 0 {
				return errors.New("the hub showed no certificate")
			}
			got := sha256.Sum256(raw[0])
			if subtle.ConstantTimeCompare(got[:], want) != 1 {
				return fmt.Errorf("the hub's certificate has the fingerprint %x, not the one that was given", got)
			}
			return nil
		},
	}
}
