#!/bin/sh
# Installs what apt has of the physics engines: ODE, gz-physics with its build tools, and the SDF checker. MuJoCo comes with pip.
# As root, or with sudo where it asks no password; otherwise says what to run. Never stops the caller: an engine that is
# missing is told by slipfit itself.
set -u

PACKAGES="libode8 libignition-physics-dev libignition-physics5-dartsim-plugin5 libignition-plugin-dev libsdformat-dev
sdformat-sdf ignition-tools cmake g++"

missing=""
for package in $PACKAGES; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

install="apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null; then
  echo "no apt-get here; engines need, by Debian's names:$missing" >&2
elif [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  echo "engines are missing; install them with: sudo $install" >&2
fi
if [ "${as_root+set}" = set ]; then
  echo "installing engines:$missing" >&2
  export DEBIAN_FRONTEND=noninteractive
  $as_root apt-get update -qq >/dev/null
  $as_root $install -qq >/dev/null || echo "that did not work; try: sudo $install" >&2
fi
exit 0
