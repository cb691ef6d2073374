#!/bin/bash
# The image under podman on cgroup v2, in the machine of test/cgroup2/run.sh: without rights the doctor refuses, with those
# that the README names a group can be divided and a box stands. Emulated, compilers and JVM are too slow for its clocks, so
# what it says of them does not count here.
#
# On the host it unpacks the image's files and boots the machine; there podman runs these, as its store of images would be
# an overlay on an overlay.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD/.data/image-root

boot() {
  rm -rf "$root"
  mkdir -p "$root"
  container=$(podman create --no-healthcheck "${IMAGE:-localhost/runledger}")
  trap 'podman rm "$container" >/dev/null; rm -rf "$root"' EXIT
  podman export "$container" | tar -x -C "$root"
  test/cgroup2/run.sh test/image/cgroup2.sh --inside
}

ask_doctor() {
  podman --root=/tmp/podman/root --runroot=/tmp/podman/run --storage-driver=vfs --cgroup-manager=cgroupfs --runtime=runc \
    run --rm --network=host --no-healthcheck --read-only --tmpfs=/tmp:mode=1777 --workdir=/runledger \
    --env=PATH=/runledger/bin:/usr/sbin:/usr/bin:/sbin:/bin --env=container=podman "$@" \
    --rootfs "$root" /runledger/deploy/entrypoint.sh doctor || true
}

# Every row of these names is there and begins with the mark.
expect() {
  local mark=$1 answer=$2 name
  shift 2
  for name in "$@"; do
    if ! grep -qE "^$mark $name +[^ ]" <<<"$answer"; then
      printf 'not ok - %s is not %s\n%s\n' "$name" "$mark" "$answer"
      exit 1
    fi
    echo "ok - $name is $mark"
  done
}

if [ "${1:-}" != --inside ]; then
  boot
  exit
fi
mkdir -p /tmp/podman
expect ✗ "$(ask_doctor)" 'container caps' 'container cgroup' 'cgroup delegation' box
expect ✓ "$(ask_doctor --cap-drop=ALL --cap-add=CHOWN,DAC_OVERRIDE,KILL,SETGID,SETPCAP,SETUID,SYS_ADMIN,SYS_PTRACE \
  '--security-opt=unmask=/proc/*:/sys/fs/cgroup')" container 'cgroup delegation' box
