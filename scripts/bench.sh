#!/usr/bin/env bash
# Every benchmark, one package after the other: lines for people on stdout, the
# same as JSON in bench.json (or the file that is named).
set -euo pipefail
cd "$(dirname "$0")/.."
out="${1:-bench.json}"
raw="$(mktemp)"
trap 'rm -f "$raw"' EXIT
status=0
measure() { # BENCHTIME PACKAGE...
  [ $# -gt 1 ] || return 0
  go test -run '^$' -bench "${BENCH:-.}" -benchtime "$1" -p 1 -timeout 30m "${@:2}" >> "$raw" || status=$?
}
# Whole companies take all their samples within one iteration, an exchange is
# one sample, and the rest repeats for a while.
rooms="$(go list ${PACKAGES:-./...})"
measure 1x $(grep -E '/(e2e|hub)$' <<< "$rooms")
measure "${EXCHANGES:-20}x" $(grep -E '/agents$' <<< "$rooms")
measure "${BENCHTIME:-300ms}" $(grep -vE '/(e2e|hub|agents)$' <<< "$rooms")

# A result is: name, iterations, then pairs of a value and its unit.
awk '$1 == "pkg:" { pkg = $2 }
  /^Benchmark/ && NF >= 4 {
    sub(/-[0-9]+$/, "", $1)
    printf "%s %s\n", pkg, $1
    for (i = 3; i < NF; i += 2) printf "    %14s %s\n", $i, $(i + 1)
  }' "$raw"
awk 'BEGIN { print "[" }
  $1 == "pkg:" { pkg = $2 }
  /^Benchmark/ && NF >= 4 {
    sub(/-[0-9]+$/, "", $1)
    printf "%s  {\"package\":\"%s\",\"name\":\"%s\",\"iterations\":%s", (n++ ? ",\n" : ""), pkg, $1, $2
    for (i = 3; i < NF; i += 2) printf ",\"%s\":%s", $(i + 1), ($i ~ /^[-+]?[0-9]/ ? $i : "null")
    printf "}"
  }
  END { print "\n]" }' "$raw" > "$out"

if [ "$status" != 0 ]; then
  echo "some benchmarks failed:" >&2
  grep -E '^(--- FAIL|FAIL|panic)' "$raw" >&2 || true
fi
echo "written: $out" >&2
exit "$status"
