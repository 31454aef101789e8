#!/usr/bin/env bash
# Starts the company, asks one question and leaves the session running.
set -euo pipefail
bin="$PWD/${1:?usage: run.sh BINARY}"
"$bin" up --engine builtin
question="${QUESTION:-where is the retry policy implemented?}"
printf '\n$ orchestrator-cc send grand_boss "%s"\n\n' "$question"
"$bin" send grand_boss "$question"
printf '\nThe session is running. Type next:\n'
printf '  %-42s %s\n' \
  "$1 attach" 'look at the five agents (C-b d leaves again)' \
  "$1 send grand_boss \"...\"" 'ask something else' \
  'tail -f logs/messages.jsonl' 'watch every hop' \
  "$1 down" 'end it'
