#!/usr/bin/env bash
# Installs pinned versions of the real agent programs from the npm registry
# into a cache folder and prints the folder that holds their commands.
#
#   scripts/engines.sh                 all programs
#   scripts/engines.sh claude codex    only these
#
# The folder is named after the pins, so a new pin installs beside the old one
# and a complete folder is never touched again.
set -euo pipefail

package_of() {
  case "$1" in
    claude) echo @anthropic-ai/claude-code@2.1.197 ;;
    codex) echo @openai/codex@0.166.0 ;;
    gemini) echo @google/gemini-cli@0.61.0 ;;
    opencode) echo opencode-ai@1.18.33 ;;
    *) echo "unknown program $1; known: claude codex gemini opencode" >&2; exit 2 ;;
  esac
}
cache="${XDG_CACHE_HOME:-$HOME/.cache}/orchestrator-cc/engines"
bin="$cache/bin"
mkdir -p "$bin"

if ! command -v npm >/dev/null; then
  echo "npm is missing: installing it" >&2
  if command -v apt-get >/dev/null; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq >&2
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nodejs npm >&2
  elif command -v brew >/dev/null; then
    brew install --quiet node >&2
  else
    echo "install Node.js 20 or newer with npm, then run this again" >&2
    exit 1
  fi
fi
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
  echo "Node.js $(node --version) is too old for the agent programs; install 20 or newer, then run this again" >&2
  exit 1
fi

# One installer at a time; others wait and then find everything there.
exec 9> "$cache/.lock"
if command -v flock >/dev/null; then flock 9; fi

for program in "${@:-claude codex gemini opencode}"; do
  for name in $program; do
    package="$(package_of "$name")"
    home="$cache/$name-${package##*@}"
    if [ ! -e "$home/.complete" ]; then
      echo "installing $package" >&2
      rm -rf "$home"
      mkdir -p "$home"
      npm install --prefix "$home" --no-audit --no-fund --loglevel=error "$package" >&2
      touch "$home/.complete"
    fi
    ln -sfn "$home/node_modules/.bin/$name" "$bin/$name"
  done
done
# OpenCode fetches this into each new home before it loads a plugin; tests give
# it to their homes, so that five panes do not fetch it at the same time.
library="$cache/opencode-library"
version="$(package_of opencode)"
version="${version##*@}"
if [ "$(cat "$library/.complete" 2>/dev/null)" != "$version" ]; then
  echo "installing @opencode-ai/plugin@$version" >&2
  rm -rf "$library"
  mkdir -p "$library"
  npm install --prefix "$library" --save-exact --no-audit --no-fund --loglevel=error "@opencode-ai/plugin@$version" >&2
  echo "$version" > "$library/.complete"
fi
echo "$bin"
