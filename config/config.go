// Package config turns the project's YAML into plain, checked data. The file is
// read once, at the door; every mistake in it is reported together with the
// others, each with its place and its cure; what comes out is a value that
// nobody changes afterwards. Defaults stand in two embedded files and nowhere
// else: cc-cluster.yaml, which also documents every option, and engines.yaml,
// which describes the programs that can run in a pane.
//
//	embedded defaults -> the project's YAML over them -> check -> Config -> Resolve (which program really runs)
//
// The room reads the named file, the personality files it names and nothing
// else: no environment, no home folder.
package config

import (
	"time"

	"orchestrator-cc/protocol"
)

// Config is a whole, checked configuration.
type Config struct {
	Cluster     Cluster
	Engine      string            // the engine of every agent that names none; may be Auto
	Auto        string            // what Auto stands for; "" until Resolve has chosen
	Agents      []Agent           // sorted by PaneIndex
	Engines     map[string]Engine // every engine that can be named, the embedded ones included
	Tmux        Tmux
	Layout      string // LayoutPanes or LayoutWindows
	API         API
	Routing     Routing
	Retry       Retry
	Limits      Limits
	Sessions    Sessions
	Permissions protocol.Matrix // replaces the default matrix; nil when the file has none
	Approvals   protocol.Policy // of every agent, behind what the agent itself says
	Journal     Journal
	Warnings    []string // what a person should know although it is no mistake
}

// The layouts of the session: all agents in one window, or a window for each.
const (
	LayoutPanes   = ""
	LayoutWindows = "windows"
)

// Cluster names the company and says where it works.
type Cluster struct {
	Name        string
	SessionName string
	WorkDir     string // absolute; empty only where the configuration was read without a folder
	Language    string // of the embedded briefs: "en" or "ja"
}

// Agent is one role at one pane.
type Agent struct {
	Name            string
	Role            protocol.Role
	Personality     string // the brief's text; empty for engines that take none
	PersonalityPath string // the file it came from, absolute; empty for an embedded brief
	Marker          string
	MarkerLoose     bool // the marker also counts in another case or with doubled blanks
	PaneIndex       int
	Engine          string   // empty: the configuration's default engine
	Command         []string // empty: the engine's command
	Env             map[string]string
	Timeout         time.Duration
	Approvals       protocol.Policy // how its tool calls are decided, the rules for all agents included
	Tokens          int             // what its models may take; 0: Limits.Tokens.Agent
}

// Tmux says on which server the session lives.
type Tmux struct {
	Socket string // empty: a private server named after the session; SocketDefault: the user's own
	Config string // TmuxOwn or TmuxUser
}

// Values of Tmux.
const (
	SocketDefault = "default"
	TmuxOwn       = "own"  // our small configuration
	TmuxUser      = "user" // the user's ~/.tmux.conf
)

// API says where the HTTP interface listens besides the unix socket.
type API struct {
	Listen string // host:port; empty: no TCP
	TLS    TLS
}

// TLS names the certificate and its key, absolute, both or none; or it asks
// for a self-made one.
type TLS struct {
	Cert, Key string
	SelfMade  bool
}

// Routing says who gets a task of the HTTP interface, by its type; empty is
// the boss.
type Routing struct {
	Chat, CommandExecution, FileOperation, ComplexTask string
}

// Retry is the retry policy, the pause between attempts: Initial, then times Multiplier, at most MaxDelay.
type Retry struct {
	Max        int
	Initial    time.Duration
	MaxDelay   time.Duration
	Multiplier float64
	Jitter     bool
}

// Limits end what would otherwise never end, or grow without bound.
type Limits struct {
	Timeout      time.Duration // no sign of life from a busy pane
	HardLimit    time.Duration // one answer, signs of life or not
	Accept       time.Duration // from Enter until the agent shows that it took the prompt
	Turns        int           // answers in one task
	Depth        int           // delegations below each other
	OpenTasks    int           // of one agent
	PromptBytes  int           // one prompt
	PayloadBytes int           // one encoded message
	Tokens       Tokens
}

// Tokens is what models may take before a person is asked; 0 is no limit.
type Tokens struct {
	Task  int // one task with all its delegates
	Agent int // one agent
	Day   int // the company, from midnight to midnight UTC
}

// Sessions are those of the HTTP interface.
type Sessions struct {
	Forget bool // an agent's conversation is cleared before another session's work
}

// Journal rotates logs/messages.jsonl once it has RotateBytes; 0 never does.
type Journal struct {
	RotateBytes int
	Keep        int // how many rotated files stay
}

// Engine describes a program that can run in a pane: how it is started, how it
// gets its brief, and how its screen is read.
type Engine struct {
	Name        string
	Command     []string // argv; Self stands for the running binary
	Env         map[string]string
	Unset       []string // variables that must not reach the program
	Personality string   // ByFlag, ByFile, ByPaste, ByHooks or ByNone
	Flag        string   // for ByFlag and ByFile; what ends in "=" is joined with its value
	Ready       []string // regexps: a line that shows that the program takes input; none: a quiet screen does
	Busy        []string // regexps: a line that is there only while it works
	Dialog      []string // regexps: a line of a question that only a person may answer
	SignedOut   []string // regexps: a line that says that nobody has signed in; the group "type" is what to type for that
	Answers     []DialogAnswer
	AllowOnce   DialogAnswer // its own dialog about a tool call, and what allows that call, which a person has allowed elsewhere
	Composer    []string     // regexps: the line in which a prompt is being typed
	Footer      []string     // regexps: a line that the program draws below a finished answer, or above it
	Hint        []string     // regexps: what stands in the composer while nobody types
	Wall        []string     // regexps: a line that stands in place of an answer when a quota or a rate limit is hit
	Waits       []string     // regexps: a line that it shows while it waits for the end of one by itself
	Failed      []string     // regexps: a line in which it says why a turn ended without an answer
	Submit      []string     // keys by their tmux names
	Interrupt   []string
	MaxPrompt   int // bytes; 0: Limits.PromptBytes
	Multiline   bool
	Boxed       bool          // its composer is a box of several rows, which ends with one about the program
	OnePaste    bool          // tag and body go in one paste; else the tag by itself, so that it stays literal
	Start       time.Duration // until it takes a prompt; what takes longer is degraded
	Settle      time.Duration // from the paste to the Enter
	Alternate   bool          // draws on the alternate screen, which has no scrollback
	Channel     string        // ChannelNone or ChannelSpool
	Forget      string        // what is typed to make it forget its conversation, or ForgetByRestart; empty: it cannot
	TrustHooks  bool          // our hooks need no review of a person's in a program that asks for one
	Tested      string        // the program's version that this description was tested with
	Hooks       string        // whose own way of telling about itself it has: HooksNone, HooksClaude and the others
}

// DialogAnswer is how the user has one kind of dialog answered without being
// asked.
type DialogAnswer struct {
	Dialog string   // a regexp: a line of it
	Keys   []string // by their tmux names
}

// How an engine is given its brief.
const (
	ByFlag  = "flag"  // the text follows Flag on the command line
	ByFile  = "file"  // the path of a file with the text follows Flag
	ByPaste = "paste" // it is pasted as the first request
	ByHooks = "hooks" // the program that Hooks names has a way of its own
	ByNone  = "none"
)

// ForgetByRestart is the way of a program that has no command for it: it is
// ended, and another process takes its place.
const ForgetByRestart = "restart"

// How an engine tells about itself besides its screen.
const (
	ChannelNone  = ""
	ChannelSpool = "spool" // it appends to the pane's spool file
)

// The programs whose hooks are understood. An engine of the user's that runs
// one of them under another name says so.
const (
	HooksNone     = ""
	HooksClaude   = "claude"
	HooksCodex    = "codex"
	HooksGemini   = "gemini"
	HooksOpenCode = "opencode"
)
