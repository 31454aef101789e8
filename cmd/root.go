package cmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// The groups of verbs in the help text.
const (
	groupStart = "start"
	groupWork  = "work"
	groupSee   = "see"
	groupSteer = "steer"
	groupCare  = "care"
)

// Main runs one command line and returns its exit code.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a, err := newApp()
	if err != nil {
		complain(newUI(os.Getenv), err, "orchestrator-cc")
		return exitFailed
	}
	return run(ctx, a, args)
}

// run executes a command line. What goes wrong before a verb begins is usage:
// an unknown verb or flag, a wrong number of arguments.
func run(ctx context.Context, a *app, args []string) int {
	began := false
	root := newRoot(a)
	root.PersistentPreRun = func(*cobra.Command, []string) { began = true }
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out.w)
	root.SetErr(a.err.w)
	verb, err := root.ExecuteContextC(ctx)
	if err != nil && !began {
		err = &usageError{err}
	}
	complain(&a.ui, err, verb.CommandPath())
	return exitCode(err)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "orchestrator-cc",
		Short: "A small company of coding agents in tmux",
		Long: `A small company of coding agents in tmux: a boss, a manager and specialists.
Begin with:

  orchestrator-cc up                            start the company here
  orchestrator-cc send grand_boss "your task"   give it work and get the answer
  orchestrator-cc attach                        watch it (leave with Ctrl-b d)
  orchestrator-cc status                        who does what, what waits for you
  orchestrator-cc down                          end everything`,
		Version:       versionLine(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	onlyVerbs(root)
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start and end:"},
		&cobra.Group{ID: groupWork, Title: "Give work:"},
		&cobra.Group{ID: groupSee, Title: "See what happens:"},
		&cobra.Group{ID: groupSteer, Title: "Steer:"},
		&cobra.Group{ID: groupCare, Title: "Care:"},
	)
	root.SetHelpCommandGroupID(groupCare)
	root.SetCompletionCommandGroupID(groupCare)
	root.AddCommand(
		newInitCommand(a), newUpCommand(a), newServeCommand(a), newAttachCommand(a), newDownCommand(a),
		newSendCommand(a), newAnswerCommand(a), newInvestigateCommand(a), newCodeCommand(a), newMCPCommand(a),
		newStatusCommand(a), newTasksCommand(a), newShowCommand(a), newLogCommand(a), newInboxCommand(a), newStatsCommand(a),
		newCancelCommand(a), newRetryCommand(a), newApproveCommand(a), newDenyCommand(a), newPauseCommand(a), newResumeCommand(a),
		newDoctorCommand(a), newKeysCommand(a), newVersionCommand(a),
		newHubCommand(), newAgentCommand(), newLaunchCommand(), newHookCommand(a),
	)
	return root
}
