package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

const unknownCommit = "unknown"

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: groupCare,
		Args:    takes(false),
		Run:     func(*cobra.Command, []string) { runVersion(a) },
	}
}

func runVersion(a *app) { a.out.printf("%s\n", versionLine()) }

// versionLine is all that a report of a fault needs to say about the program.
func versionLine() string {
	return fmt.Sprintf("orchestrator-cc %s (commit %s, %s, %s/%s)", version(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version is the module's version, or "devel" where it was built from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// commit is the revision the binary was built from, marked where files had changed.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownCommit
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changes"
		}
	}
	if revision == "" {
		return unknownCommit
	}
	return revision[:min(len(revision), 12)] + changed
}
