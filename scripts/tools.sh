#!/usr/bin/env bash
# Installs what the project needs besides Go: tmux. In CI also the clients that
# the tests of the HTTP interface use and nobody here wrote; on other machines
# those tests are left out where a client is missing.
set -euo pipefail
wanted=(tmux)
[ "${CI:-}" != true ] || wanted+=(curl python3 node npm chromium)
missing=()
for program in "${wanted[@]}"; do
  command -v "$program" >/dev/null || missing+=("$program")
done
[ ${#missing[@]} -gt 0 ] || exit 0
echo "missing: ${missing[*]}; installing" >&2
if command -v apt-get >/dev/null; then
  sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]/%node/nodejs}" >/dev/null
elif command -v brew >/dev/null; then
  for program in "${missing[@]}"; do
    case $program in
      npm) ;; # comes with node
      python3) brew install --quiet python ;;
      chromium) brew install --quiet --cask chromium ;;
      *) brew install --quiet "$program" ;;
    esac
  done
else
  echo "install ${missing[*]} (tmux 3.2 or newer) with your system's package manager, then run this again" >&2
  exit 1
fi
