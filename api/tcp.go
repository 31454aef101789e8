package api

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// ErrNeedsTLS says that an address can be reached from other machines.
var ErrNeedsTLS = errors.New("other than loopback only with TLS")

// mostConnections bounds what strangers can hold open: a thousand streams and
// as many requests beside them, four times over would be a siege.
const mostConnections = 4096

// Certificate is what a TCP listener proves itself with.
type Certificate struct {
	tls         tls.Certificate
	Names       []string // the hosts it speaks for
	Fingerprint string   // SHA-256 of the certificate, in hex
}

// ListenTCP opens an address for programs with keys. Without a certificate it
// must be a loopback address: a key must not cross a network in the clear.
func ListenTCP(address string, cert *Certificate) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if cert == nil && !isLoopback(host) {
		return nil, fmt.Errorf("listen on %s: %w", address, ErrNeedsTLS)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	l = bound(l, mostConnections)
	if cert != nil {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert.tls}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	return l, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// LoadCertificate reads a certificate and its key.
func LoadCertificate(certFile, keyFile string) (*Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s: %w", certFile, err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s: %w", certFile, err)
	}
	sum := sha256.Sum256(pair.Certificate[0])
	pair.Leaf = leaf
	return &Certificate{tls: pair, Names: leaf.DNSNames, Fingerprint: hex.EncodeToString(sum[:])}, nil
}

// ownLife is how long a self-made certificate lasts, and ownRest what must be
// left of it at a start.
const (
	ownLife = 365 * 24 * time.Hour
	ownRest = 30 * 24 * time.Hour
)

// OwnCertificate is a self-made certificate for a host, kept in dir and made
// anew when it ends soon or speaks for another host.
func OwnCertificate(dir, host string) (*Certificate, error) {
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	cert, err := LoadCertificate(certFile, keyFile)
	if err == nil && time.Until(cert.tls.Leaf.NotAfter) > ownRest && cert.tls.Leaf.VerifyHostname(host) == nil {
		return cert, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	if err := makeCertificate(certFile, keyFile, host); err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return LoadCertificate(certFile, keyFile)
}

func makeCertificate(certFile, keyFile, host string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	now := time.Now()
	plan := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "orchestrator-cc"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(ownLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(host); ip != nil {
		plan.IPAddresses = append(plan.IPAddresses, ip)
	} else if host != "" && host != "localhost" {
		plan.DNSNames = append(plan.DNSNames, host)
	}
	if name, err := os.Hostname(); err == nil && name != host {
		plan.DNSNames = append(plan.DNSNames, name)
	}
	der, err := x509.CreateCertificate(rand.Reader, plan, plan, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := replaceFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})); err != nil {
		return err
	}
	return replaceFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
