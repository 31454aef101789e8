#!/usr/bin/env bash
# Installs what the project needs besides Go: tmux.
set -euo pipefail
command -v tmux >/dev/null && exit 0
echo "tmux is missing: installing it" >&2
if command -v apt-get >/dev/null; then
  sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq tmux >/dev/null
elif command -v brew >/dev/null; then
  brew install --quiet tmux
else
  echo "install tmux 3.2 or newer with your system's package manager, then run this again" >&2
  exit 1
fi
