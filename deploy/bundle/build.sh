#!/bin/sh
# Packs everything that a host without a network needs to run the service into one archive: the images, compose file,
# documentation, install.sh, check.sh, and the SHA-256 of every file. Writes the archive's digest beside it. The archive has
# no secret, and is the same for the same images and checkout.
#
#   IMAGE           the image of `make image` (localhost/runledger); its languages are the bundle's
#   POSTGRES_IMAGE  PostgreSQL (postgres:18); if it cannot be pulled, Debian's packages are installed on our image's base
#   OUT             the archive (.data/runledger-bundle.tar)
#   ENGINE          podman or docker; by default the first of them that works
set -eu
cd "$(dirname "$0")/../.."
image=${IMAGE:-localhost/runledger}
postgres=${POSTGRES_IMAGE:-docker.io/library/postgres:18}
own_postgres=localhost/runledger-postgres
out=${OUT:-.data/runledger-bundle.tar}
name=runledger-bundle
pull_seconds=60
# Space for the first days of a database.
spare_kilobytes=$((1024 * 1024))

say() { echo "bundle: $*" >&2; }
. deploy/engine.sh

# The checkout may belong to another user.
tracked() { git -c safe.directory="$PWD" "$@"; }
inspect() { "$engine" image inspect --format "$1" "$2"; }

find_postgres() {
  if [ -n "${POSTGRES_IMAGE:-}" ] || inspect '{{.Id}}' "$postgres" >/dev/null 2>&1; then return; fi
  if timeout "$pull_seconds" "$engine" pull -q "$postgres" >/dev/null 2>&1; then return; fi
  postgres=$own_postgres
  if inspect '{{.Id}}' "$postgres" >/dev/null 2>&1; then return; fi
  say "postgres:18 cannot be pulled: building $own_postgres of Debian's packages"
  base=debian:bookworm-slim
  if ! inspect '{{.Id}}' "$base" >/dev/null 2>&1; then base=localhost/runledger-base; fi
  "$engine" build --network host --build-arg "BASE=$base" --tag "$postgres" --file deploy/postgres.Containerfile deploy >&2
}

# Prints the settings for the scripts on the host.
describe() {
  languages=$(inspect '{{index .Config.Labels "runledger.languages"}}' "$image")
  if [ -z "$languages" ]; then say "$image offers no language: build it with LANGUAGES" && exit 64; fi
  bytes=$(($(inspect '{{.Size}}' "$image") + $(inspect '{{.Size}}' "$postgres")))
  # javascript and typescript come with Node.
  printf '%s\n' "RUNLEDGER_IMAGE=$image" "POSTGRES_IMAGE=$postgres" "LANGUAGES='$languages javascript typescript'" \
    "KILOBYTES=$((bytes / 1024 + spare_kilobytes))" "REVISION=$(tracked rev-parse HEAD)"
}

engine=$(find_engine)
inspect '{{.Id}}' "$image" >/dev/null 2>&1 || { say "there is no image $image: make image" && exit 69; }
find_postgres
mkdir -p "$(dirname "$out")"
work=$(mktemp -d "$(dirname "$out")/bundle.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
folder=$work/$name
mkdir -p "$folder/images" "$folder/documents"
describe >"$folder/bundle.env"
cp deploy/bundle/install.sh deploy/bundle/check.sh deploy/bundle/compose.sh deploy/engine.sh deploy/compose.yaml "$folder/"
# The documentation, with all files that the pages link to.
tracked ls-files -z -- '*.md' LICENSE Procfile docs deploy clients bench/goals.svg src/console/picture |
  tar -c --null --files-from=- | tar -x --no-same-owner -C "$folder/documents"
"$engine" save --output "$folder/images/runledger.tar" "$image"
"$engine" save --output "$folder/images/postgres.tar" "$postgres"
(cd "$folder" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort | xargs -d '\n' sha256sum >"$work/SHA256SUMS")
mv "$work/SHA256SUMS" "$folder/"
tar -c --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
  --mtime="@$(tracked log -1 --format=%ct)" -C "$work" -f "$work/bundle.tar" "$name"
mv "$work/bundle.tar" "$out"
# The digests, which must reach the host by another way than the archive.
{
  echo "$(sha256sum <"$out" | cut -d ' ' -f 1)  $(basename "$out")"
  (cd "$work" && sha256sum "$name/SHA256SUMS")
} >"$out.sha256"
say "$out, $(wc -c <"$out" | awk '{ printf "%.0f MB", $1 / 1e6 }'); its digests: $out.sha256"
