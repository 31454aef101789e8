package bus

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"orchestrator-cc/protocol"
)

// ErrStorage matches every refusal of the disk: full, read-only or broken.
var ErrStorage error = &protocol.Fault{Code: protocol.CodeStorage}

// refusal is a fault for the caller with the system's error still inside.
type refusal struct {
	fault *protocol.Fault
	cause error
}

func (r *refusal) Error() string   { return r.fault.Error() }
func (r *refusal) Unwrap() []error { return []error{r.fault, r.cause} }

func refuse(step string, cause error) error {
	fault := protocol.Faultf(protocol.CodeStorage, "%s: %v", step, cause)
	switch {
	case errors.Is(cause, syscall.ENOSPC), errors.Is(cause, syscall.EDQUOT):
		fault = fault.Cure("free some space on the disk; the stream goes on by itself")
	case errors.Is(cause, os.ErrPermission), errors.Is(cause, syscall.EROFS):
		fault = fault.Cure("make the folder writable; the stream goes on by itself")
	}
	return &refusal{fault, cause}
}

// replace puts data at path so that a crash leaves the old file or the new
// one, never a mixture.
func (l *Log) replace(dir, path string, data []byte) error {
	f, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = l.sync(f)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := l.syncDir(dir); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}
