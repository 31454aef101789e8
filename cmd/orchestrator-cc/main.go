// Command orchestrator-cc runs a small company of coding agents in tmux.
package main

import (
	"os"

	"orchestrator-cc/cmd"
)

func main() { os.Exit(cmd.Main(os.Args[1:])) }
