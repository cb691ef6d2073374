#!/bin/bash
# The image under podman on cgroup v2, in the machine of test/cgroup2/run.sh: of image.ts what cgroups have a part in. That is
# what is refused without rights, the doctor with those that docs/deploy.md names, a job in Python and one in C++, and that what
# is told to stop leaves no group behind. Emulated, a JVM misses the clocks of its phases where the host is busy, and the
# attacks, a doctor for each flag and a second start take too long.
#
# On the host it unpacks the image's files and boots the machine; there podman runs these, as its store of images would be
# an overlay on an overlay.
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

# There is no systemd, and nothing of podman's may be kept where the machine's files are.
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
# Not these tests, and of the others not these: a name that fits no more makes it longer, and leaves nothing out.
export TAP_GREP=$'/^(?!the doctor names|a worker that is killed)/\n/^(?!attacks|a javac|java|started again)/'
exec node test/image/image.ts
