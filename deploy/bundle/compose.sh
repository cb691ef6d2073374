#!/bin/sh
# Runs the engine's compose for the installed bundle, with the bundle's images and this host's secrets: ./compose.sh logs web,
# ./compose.sh run --rm operator keys issue --account acme. `down` keeps the database.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
say() { echo "bundle: $*" >&2; }
. "$here/engine.sh"
set -a
. "$here/bundle.env"
. "${STATE:-/var/lib/runledger}/secrets.env"
set +a
engine=$(find_engine)
set -- -p runledger -f "$here/compose.yaml" "$@"
if [ "$engine" = podman ]; then set -- podman-compose "$@"; else set -- docker compose "$@"; fi
command -v "$1" >/dev/null || { say "$1 is missing" && exit 69; }
exec "$@"
