#!/usr/bin/env bash
# The long checks: the trap suite 20 times, then the crash suite with 200 kills
# over 100 tasks and 20 power cuts, then everything with the real agent programs,
# and 100 exchanges in a row with each. Ends with a summary and fails if one did not hold. ROUNDS,
# KILLS, TASKS, CUTS, EXCHANGES and SEED change or repeat a run.
set -uo pipefail
cd "$(dirname "$0")/.."
rounds="${ROUNDS:-20}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
began=$SECONDS
held=0
for i in $(seq "$rounds"); do
  start=$SECONDS
  if go test -count=1 -shuffle=on -timeout 14m ./agents ./tmux > "$log" 2>&1; then
    held=$((held + 1))
    echo "trap suite, round $i of $rounds: held ($((SECONDS - start)) s)"
  else
    echo "trap suite, round $i of $rounds: FAILED ($((SECONDS - start)) s)"
    tail -n 60 "$log"
  fi
done

export ORCHESTRATOR_CC_KILLS="${KILLS:-200}" ORCHESTRATOR_CC_TASKS="${TASKS:-100}" ORCHESTRATOR_CC_CUTS="${CUTS:-20}"
[ -z "${SEED:-}" ] || export ORCHESTRATOR_CC_SEED="$SEED"
crashes=held
go test -count=1 -timeout 60m -run 'TestCrashes|TestPowerCut' -v ./e2e ./bus > "$log" 2>&1 || crashes=FAILED
grep -E '^(---|ok|FAIL)|seed |lost |had to decide' "$log"
[ "$crashes" = held ] || tail -n 100 "$log"

engines=held
make --silent test-engines ALL=1 > "$log" 2>&1 || engines=FAILED
[ "$engines" = held ] || grep -v '^ok' "$log" | tail -n 200

export ORCHESTRATOR_CC_EXCHANGES="${EXCHANGES:-100}"
exchanges=held
programs="$(scripts/engines.sh)" || exchanges=FAILED
ORCHESTRATOR_CC_ENGINES="$programs" go test -count=1 -parallel 2 -timeout 60m -run TestManyExchanges -v ./engines > "$log" 2>&1 || exchanges=FAILED
grep -E '^ *---|exchanges right' "$log"
[ "$exchanges" = held ] || tail -n 100 "$log"

echo
echo "trap suite:  $held of $rounds rounds held"
echo "crash suite: $crashes ($ORCHESTRATOR_CC_KILLS kills over $ORCHESTRATOR_CC_TASKS tasks, $ORCHESTRATOR_CC_CUTS power cuts)"
echo "programs:    $engines (everything with the real agent programs)"
echo "exchanges:   $exchanges ($ORCHESTRATOR_CC_EXCHANGES with each agent program)"
echo "time:        $((SECONDS - began)) s"
[ "$held" = "$rounds" ] && [ "$crashes" = held ] && [ "$engines" = held ] && [ "$exchanges" = held ]
