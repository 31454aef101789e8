#!/usr/bin/env bash
# Every benchmark once, for people on stdout and as JSON in bench.json.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${1:-bench.json}"
go test -run '^$' -bench . -benchtime "${BENCHTIME:-1x}" -timeout 30m -json ./... > "$out.raw"
# Of the test events keep the benchmark lines, each with its package.
sed -n 's/.*"Package":"\([^"]*\)".*"Output":"\(Benchmark[^"]*\)".*/\1\t\2/p' "$out.raw" | sed 's/\\t/\t/g; s/\\n//' | tee "$out.txt"
awk -F'\t' 'BEGIN { print "[" } NF > 2 {
    gsub(/^ +| +$/, "", $2)
    printf "%s  {\"package\":\"%s\",\"name\":\"%s\"", (n++ ? ",\n" : ""), $1, $2
    for (i = 4; i <= NF; i++) { split($i, m, " "); if (m[2] != "") printf ",\"%s\":%s", m[2], m[1] }
    printf "}"
  } END { print "\n]" }' "$out.txt" > "$out"
rm -f "$out.raw" "$out.txt"
echo "written: $out" >&2
