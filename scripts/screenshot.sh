#!/usr/bin/env bash
# Draws docs/session.png: a live session, seen through a real attached client.
# Needs aha, chromium and a monospace font; installs them where apt-get can.
set -euo pipefail
bin="$PWD/${1:?usage: screenshot.sh BINARY [COLUMNSxROWS] [FILE]}"
size="${2:-160x48}"
file="${3:-docs/session.png}"
for tool in aha chromium; do
  command -v "$tool" >/dev/null || apt-get install -y -qq "$tool" fonts-dejavu-core >/dev/null
done
work="$(mktemp -d /tmp/occshot.XXXXXX)"
export TMUX_TMPDIR="$work" XDG_RUNTIME_DIR="$work" HOME="$work"
unset TMUX
project="$work/project"
mkdir -p "$project"
cp -R "${SHOT_PROJECT:-investigate/testdata/golden/go/tree}/." "$project"
viewer() { tmux -L viewer "$@"; }
finish() { viewer kill-server 2>/dev/null || true; (cd "$project" && "$bin" down >/dev/null 2>&1) || true; rm -rf "$work"; }
trap finish EXIT

(cd "$project" && "$bin" up --engine builtin >/dev/null)
viewer -f /dev/null new-session -d -x "${size%x*}" -y "${size#*x}" "cd '$project' && exec '$bin' attach"
viewer set -g status off
(cd "$project" && "$bin" send grand_boss "${SHOT_QUESTION:-where is the retry policy implemented?}" >/dev/null)
# The screen is still once the status line says that nothing is open and two
# looks in a row are alike, but for the ages in the borders.
look() { viewer capture-pane -p | sed -E 's/[0-9]+s//g'; }
before=
for _ in $(seq 150); do
  now="$(look)"
  [[ "$now" == *'GRAND BOSS OK'* && "$now" == *'0 open'* && "$now" == "$before" ]] && break
  before="$now"
  sleep 0.2
done
[ "$now" = "$before" ] || { echo "the session did not come to rest" >&2; exit 1; }
viewer capture-pane -e -p > "$work/screen.ansi"
{
  echo '<meta charset="utf-8"><style>body{margin:0;background:#0d1117;color:#c9d1d9}pre{margin:12px;font:14px/17px "DejaVu Sans Mono",monospace}</style><pre>'
  aha --no-header --black < "$work/screen.ansi"
  echo '</pre>'
} > "$work/screen.html"
pixels="$((${size%x*} * 84 / 10 + 40)),$((${size#*x} * 17 + 30))"
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$work/chromium" \
  --window-size="$pixels" --screenshot="$work/screen.png" "file://$work/screen.html" >/dev/null 2>&1
mkdir -p "$(dirname "$file")"
mv "$work/screen.png" "$file"
echo "$file"
