#!/usr/bin/env bash
# The long checks: the trap suite 20 times, the crash suite with 200 kills over
# 100 tasks. Prints how often each held.
set -uo pipefail
cd "$(dirname "$0")/.."
rounds="${ROUNDS:-20}"
failed=0
for i in $(seq "$rounds"); do
  if go test -count=1 -shuffle=on -timeout 14m ./agents ./tmux > "/tmp/soak.$$.log" 2>&1; then
    echo "trap suite round $i of $rounds: held"
  else
    failed=$((failed + 1)); echo "trap suite round $i of $rounds: FAILED"; tail -n 60 "/tmp/soak.$$.log"
  fi
done
export ORCHESTRATOR_CC_KILLS="${KILLS:-200}" ORCHESTRATOR_CC_TASKS="${TASKS:-100}"
if go test -count=1 -timeout 40m -run 'TestCrashes|TestPowerCut' -v ./e2e ./bus | grep -E '^(ok|FAIL|---)|seed|lost|person'; then :; else failed=$((failed + 1)); fi
rm -f "/tmp/soak.$$.log"
echo "$((rounds + 1 - failed)) passed, $failed failed"
[ "$failed" = 0 ]
