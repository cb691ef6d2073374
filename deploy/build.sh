#!/bin/sh
# Builds the image with podman or docker: makes the build context of Containerfile, finds a base image, and builds. If no
# image can be pulled, mmdebstrap makes the base from this machine's own package sources.
#
#   IMAGE      the image's name (localhost/runledger)
#   LANGUAGES  the languages of its workers, such as "go rust" (python cpp java); empty: no language, for web and migrate
#   PACKAGES   further Debian packages, such as another JDK
#   BASE       the base image; by default debian:bookworm-slim, or localhost/runledger-base, which is made once:
#              remove it to get a newer one
#   ENGINE     podman or docker; by default the first of them that works
set -eu
cd "$(dirname "$0")/.."
image=${IMAGE:-localhost/runledger}
own_base=localhost/runledger-base
pull_seconds=60

say() { echo "image: $*" >&2; }
. deploy/engine.sh

# Takes over apt's settings for reaching this machine's package sources.
make_base() {
  if ! command -v mmdebstrap >/dev/null; then
    say 'debian:bookworm-slim cannot be pulled, and mmdebstrap is missing: apt-get install mmdebstrap' && exit 69
  fi
  say "making $own_base with mmdebstrap"
  apt-config dump Acquire | grep -E '^Acquire::(https?|Check|AllowInsecure|Retries)' >"$work/apt.conf" || true
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    if [ -s "$list" ]; then set -- "$@" "$list"; fi
  done
  # With a merged /usr from the start, the base needs neither usrmerge nor Perl, on which usrmerge depends.
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,usr-is-merged \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --aptopt="$work/apt.conf" '' "$work/base.tar" "$@"
  "$engine" import "$work/base.tar" "$own_base" >/dev/null
  rm "$work/base.tar"
}

find_base() {
  base=${BASE:-debian:bookworm-slim}
  if [ -n "${BASE:-}" ] || "$engine" image inspect "$base" >/dev/null 2>&1; then return; fi
  if "$engine" image inspect "$own_base" >/dev/null 2>&1; then base=$own_base && return; fi
  if timeout "$pull_seconds" "$engine" pull -q "$base" >/dev/null 2>&1; then return; fi
  base=$own_base
  make_base
}

# Lists the packages of the languages, from the catalogue of the command line, and a C compiler for the keeper, without which
# a worker does not start.
find_packages() {
  packages=${PACKAGES:-}
  languages=${LANGUAGES-python cpp java}
  if [ -n "$languages" ]; then packages="$(./runledger languages packages "$languages") gcc libc6-dev $packages"; fi
}

# Makes the service's part of the image. Node is copied, because in a checkout it is a development dependency.
make_context() {
  mkdir -p "$work/context/bin"
  node_modules/node/bin/node src/console/build.ts
  cp -R package.json package-lock.json patches Procfile runledger LICENSE src sql deploy "$work/context/"
  mkdir "$work/context/clients"
  cp -R clients/typescript "$work/context/clients/"
  # It has the passwords of deploy/compose.yaml.
  rm -f "$work/context/deploy/.env"
  (cd "$work/context" && npm ci --omit=dev --omit=peer --no-audit --no-fund --loglevel=error >&2)
  cp node_modules/node/bin/node "$work/context/bin/node"
  # The symbols are a seventh of Node's file.
  if command -v strip >/dev/null; then strip "$work/context/bin/node"; fi
  rm -r "$work/context/package-lock.json" "$work/context/patches"
  chmod -R a+rX "$work/context"
}

find_packages
engine=$(find_engine)
mkdir -p .data
work=$(mktemp -d .data/image.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
find_base
make_context
# The OCI image format has no health check.
if [ "$engine" = podman ]; then set -- --format docker; else set --; fi
say "building $image with $engine on $base"
"$engine" build "$@" --network host --build-arg "BASE=$base" --build-arg "PACKAGES=$packages" --label "runledger.languages=$languages" --tag "$image" --file deploy/Containerfile "$work/context" >&2
say "$image, $("$engine" image inspect --format '{{.Size}}' "$image" | awk '{ printf "%.0f MB", $1 / 1e6 }')"
