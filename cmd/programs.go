package cmd

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"time"

	"orchestrator-cc/config"
)

// versionPatience bounds how long a program may take to tell its version: some
// are slow to start.
const versionPatience = 20 * time.Second

var versionNumber = regexp.MustCompile(`\d+\.\d+(\.\d+)?[0-9A-Za-z.+-]*`)

// installedVersion asks a program for its version, as all known ones tell it.
func installedVersion(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second // a child of it may hold the pipe
	out, err := cmd.Output()
	version := versionNumber.FindString(string(out))
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s --version: nothing within %s", program, versionPatience)
	case version != "":
		return version, nil
	}
	return "", errors.Join(fmt.Errorf("%s --version: tells no version", program), err)
}

// versionOf is how a seat tells the version of its program, nil where none was
// tested: nobody knows what an arbitrary program does with a flag.
func versionOf(e config.Engine, a config.Agent) func(context.Context) string {
	if e.Tested == "" {
		return nil
	}
	e.Command = a.Command
	return func(ctx context.Context) string {
		text, _ := describeVersion(ctx, e)
		return text
	}
}

// describeVersion says which version of an engine's program is installed, beside
// the one that its description was tested with. known says that they are the same.
func describeVersion(ctx context.Context, e config.Engine) (text string, known bool) {
	version, err := installedVersion(ctx, e.Command[0])
	switch {
	case err != nil:
		return err.Error(), false
	case version == e.Tested:
		return "version " + version + ", as tested", true
	}
	return fmt.Sprintf("version %s, tested with %s", version, e.Tested), false
}
