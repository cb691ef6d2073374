#!/bin/bash
# Tests the image under podman on cgroup v2, in the machine of test/cgroup2/run.sh. It runs the tests of image.ts that
# concern cgroups: what is refused without rights, the doctor with the rights that docs/deploy.md names, a job in Python
# and one in C++, and that a stopped container leaves no group behind. In emulation a JVM exceeds the time limits of its
# phases when the host is busy, and the attacks, a doctor for each flag and a second start take too long.
#
# On the host this script unpacks the image's files and boots the machine. There podman runs the unpacked files, because
# its image store would be an overlay on an overlay.
set -euo pipefail
cd "$(dirname "$0")/../.."
export IMAGE_FILES=$PWD/.data/image-files

boot() {
  rm -rf "$IMAGE_FILES"
  mkdir -p "$IMAGE_FILES"
  container=$(podman create --no-healthcheck "${IMAGE:-localhost/runledger}")
  trap 'podman rm "$container" >/dev/null; rm -rf "$IMAGE_FILES"' EXIT
  podman export "$container" | tar -x -C "$IMAGE_FILES"
  test/cgroup2/run.sh test/image/cgroup2.sh --inside
}

# The machine has no systemd, and podman must keep no files where the machine's files are.
configure_podman() {
  local folder=/tmp/podman
  mkdir "$folder"
  export CONTAINERS_CONF=$folder/containers.conf CONTAINERS_STORAGE_CONF=$folder/storage.conf
  printf '%s\n' '[engine]' 'cgroup_manager = "cgroupfs"' 'events_logger = "file"' >"$CONTAINERS_CONF"
  printf '%s\n' '[storage]' 'driver = "vfs"' "graphroot = \"$folder/root\"" "runroot = \"$folder/run\"" \
    >"$CONTAINERS_STORAGE_CONF"
}

if [ "${1:-}" != --inside ]; then
  boot
  exit
fi
configure_podman
# Two patterns that exclude tests. A renamed test is then run too: this takes longer and omits nothing.
export TAP_GREP=$'/^(?!the doctor names|a worker that is killed)/\n/^(?!attacks|a javac|java|started again)/'
exec node test/image/image.ts
