#!/bin/sh
# Installs the bundle that contains this file on a host without a network: checks the digest of every file, loads the images,
# starts PostgreSQL, web and two workers, issues a key, and runs check.sh. It needs root, and podman with podman-compose or
# docker with its compose. A repeated run, or a run from a later bundle, stops the running containers and starts this bundle's
# images with the existing database, secrets and key.
#
#   STATE    where this host's secrets and the key are kept (/var/lib/runledger)
#   ACCOUNT  the account of the first key (first)
#   PORT     web's port, on loopback (3000)
#   ENGINE   podman or docker; by default the first of them that works
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
migrate_seconds=180
umask 077

say() { echo "bundle: $*" >&2; }
refuse() {
  say "refused: $*"
  exit 65
}

# Prints a file without passwords.
show() { sed 's/[0-9a-f]\{48\}/…/g' "$1" >&2; }

# Checks every file before any file of the bundle but this script is used.
verify() {
  told=$(cat ../*.tar.sha256 2>/dev/null | sed -n 's|  runledger-bundle/SHA256SUMS$||p')
  if [ -z "$told" ]; then refuse "$(dirname "$here") has no .tar.sha256, which comes with the archive"; fi
  if [ "$(sha256sum <SHA256SUMS)" != "$told  -" ]; then refuse 'SHA256SUMS is not the one whose digest came with the archive'; fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cut -c 67- SHA256SUMS >"$work/listed"
  find . -type f ! -path ./SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort >"$work/there"
  {
    LC_ALL=C comm -13 "$work/listed" "$work/there" | sed 's/$/ is not of this bundle/'
    find . ! -type f ! -type d | sed 's|^\./||; s/$/ is no file/'
    LC_ALL=C comm -23 "$work/listed" "$work/there" | sed 's/$/ is missing/'
    LC_ALL=C sha256sum --check --quiet SHA256SUMS 2>/dev/null | sed -n 's/: FAILED$/ is changed/p'
  } >"$work/complaints"
  if [ -s "$work/complaints" ]; then
    while read -r complaint; do say "refused: $complaint"; done <"$work/complaints"
    exit 65
  fi
}

look_for_room() {
  if [ "$engine" = podman ]; then field=.Store.GraphRoot; else field=.DockerRootDir; fi
  store=$("$engine" info --format "{{$field}}")
  free=$(df -Pk "$store" | awk 'NR == 2 { print $4 }')
  if [ "$free" -lt "$KILOBYTES" ]; then refuse "$store has $free kB, and the bundle takes $KILOBYTES"; fi
}

make_secrets() {
  mkdir -p "$state"
  if [ -s "$state/secrets.env" ]; then return; fi
  for role in POSTGRES RELEASE WEB WORKER; do
    echo "${role}_PASSWORD=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"
  done >"$state/new"
  echo "PORT=${PORT:-3000}" >>"$state/new"
  mv "$state/new" "$state/secrets.env"
}

# Issues a key as soon as migrate has migrated the database.
issue_key() {
  if [ -s "$state/key" ]; then return; fi
  end=$(($(date +%s) + migrate_seconds))
  while [ "$(date +%s)" -lt "$end" ]; do
    ./compose.sh run --rm -T operator keys issue --account "${ACCOUNT:-first}" 2>"$work/said" |
      grep -o 'rl_live_[A-Za-z0-9_-]*' | head -n 1 >"$work/key" || true
    if [ -s "$work/key" ]; then mv "$work/key" "$state/key" && return; fi
    sleep 2
  done
  show "$work/said"
  say "no key could be issued within $migrate_seconds s: ./compose.sh logs migrate" && exit 1
}

verify
. ./engine.sh
. ./bundle.env
state=${STATE:-/var/lib/runledger}
engine=$(find_engine)
export ENGINE="$engine" STATE="$state"
look_for_room
make_secrets
./compose.sh version >/dev/null 2>"$work/said" || { cat "$work/said" >&2 && exit 69; }
for archive in images/*.tar; do
  say "loading $archive"
  "$engine" load --quiet --input "$archive" >/dev/null
done
say "starting, with $engine"
./compose.sh down >/dev/null 2>&1 || true
if ! ./compose.sh up -d >"$work/up" 2>&1; then
  show "$work/up"
  say 'it could not be started' && exit 1
fi
issue_key
say "web listens on 127.0.0.1, the key is in $state/key"
exec ./check.sh
