// Package cmd is the command line: one file a verb, and wire.go, which builds
// the hub out of the rooms. A verb is an options struct, a constructor that
// knows cobra, and a run function that does not. What a verb says goes out
// through ui.go, and how it ends is decided in exit.go; nothing below this room
// prints, exits or reads the environment.
//
//	verb -> place (where is the hub?) -> api.Client -> unix socket -> hub
//	up   -> tmux server, whose window "hub" runs `orchestrator-cc hub`
package cmd
