#!/usr/bin/env bash
# Boots a throw-away machine whose cgroups are v2, runs one command in it, and exits with that command's status.
#
# Why a machine: every current distribution boots with cgroup v2, but the controllers of a running kernel belong either to
# v1 or to v2, and a development machine or a build container may have them in v1. A container cannot change that; another
# kernel can. So the executor's v2 code is tested on a real kernel, in software emulation (QEMU's TCG), which needs no
# privilege, no /dev/kvm and no disk image, and works wherever Debian's packages are available.
#
# How it is made:
#  - CGROUP2_MACHINE selects the file for the architecture: ./amd64.sh (the default) or ./arm64.sh.
#  - Kernel, QEMU and busybox are Debian's packages, downloaded and unpacked under .data/cgroup2; nothing is installed,
#    so the host's /boot and package list stay as they are. Remove that directory to get newer ones.
#  - The initramfs has busybox, a few modules, ./init and `order`, the command to run. It is built for each run (it takes
#    milliseconds).
#  - The machine's / is the host's / (on arm64 the unpacked packages), over 9p, read-only, under an overlay whose writes go to
#    the machine's memory. So the machine has the host's compilers, Node and this repository at the same path, and leaves
#    nothing behind. The repository's own files are a snapshot: editing them does not disturb a run. There is no network card.
#  - One serial line is the command's output, streamed to our stdout; one is the kernel's console, kept in a file and shown
#    when the machine dies. The exit status comes back by a third (see ./machine.sh), so that nothing the command prints can
#    be mistaken for it.
#
# About one boot in eighty hangs for good, a second after its kernel has started. So a machine is ended and booted again, three
# boots at most, if it does not report that it is up (`up_line`, the first line of output, which is not passed on), or is
# silent for longer than CGROUP2_SILENCE_SECONDS.
#
# Emulation is 10 to 20 times slower than the host. The command's environment has HOST_START_US (how long python3 takes to
# start on the host, measured just before the boot), so that ./suite.sh can measure the factor.
#
# Usage: test/cgroup2/run.sh [command [argument…]]      default: test/cgroup2/suite.sh
#   CGROUP2_TIMEOUT_SECONDS  for everything, boots included (1800); on a quiet machine 500 to 800 are enough
#   CGROUP2_SILENCE_SECONDS  how long the command may print nothing (CGROUP2_TIMEOUT_SECONDS)
#   CGROUP2_MACHINE          amd64 or arm64
#   CGROUP2_MEMORY_MIB       the machine's memory (4096)
#   CGROUP2_INIT=systemd     systemd is process 1, and one of its units runs the command
#   CGROUP2_ENV              names of environment variables to pass on to the command, separated by spaces
# Exit status: the command's; 124 when the time ran out; 125 when the machine failed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
repository=$(cd "$here/../.." && pwd -P)
cache=$repository/.data/cgroup2

. "$here/start-time.sh"
. "$here/${CGROUP2_MACHINE:-amd64}.sh"

say() { echo "cgroup2: $*" >&2; }

# Lists what apt would install here for a package. --simulate installs nothing.
list_missing() {
  local found
  if ! found=$(apt-get install --simulate --no-install-recommends "$1" 2>/dev/null); then
    say 'the package lists are missing or old: apt-get update'
    apt-get update -q >&2
    found=$(apt-get install --simulate --no-install-recommends "$1")
  fi
  awk '/^Inst / { print $2 }' <<<"$found"
}

# Downloads packages and unpacks them into a directory.
download() {
  local into=$1 wanted deb
  wanted=$(printf '%s\n' "${@:2}" | sort -u)
  say "downloading from Debian, into $packages only:" $wanted
  mkdir -p "$into/deb"
  # As root, because apt's unprivileged user may not write here. The packages' signatures are still checked.
  (cd "$into/deb" && apt-get download -q -o APT::Sandbox::User=root $wanted >&2)
  for deb in "$into"/deb/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -C "$into" --keep-directory-symlink -x
    rm "$deb"
  done
  rmdir "$into/deb"
}

# Writes the bash script that the machine runs once it is up. printf quotes every word.
write_order() {
  printf 'set -e\ncd %q\n' "$repository"
  printf 'export PATH=%q/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n' "$own_path"
  printf 'export HOME=/root LANG=C.UTF-8 HOST_START_US=%q\n' "$(measure_start_us)"
  for name in ${CGROUP2_ENV:-}; do
    if [ -n "${!name+set}" ]; then printf 'export %s=%q\n' "$name" "${!name}"; fi
  done
  printf '%q ' "$@"
}

# Kernel modules, in the order of their dependencies. A module without a file is built into the kernel, or no longer exists.
modules='virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci
  netfs fscache 9pnet 9pnet_virtio 9p overlay'

build_initramfs() {
  local tree=$work/initramfs module file
  mkdir -p "$tree"/{bin,modules,proc,host,upper,new,repository}
  cp "$packages/$busybox" "$tree/bin/busybox"
  cp "$here/init" "$tree/init"
  cp "$here/machine.sh" "$tree/machine.sh"
  write_order "$@" >"$tree/order"
  echo "$repository" >"$tree/path"
  echo "$serial" >"$tree/serial"
  if [ "${CGROUP2_INIT:-}" = systemd ]; then cp "$here/order.service" "$tree/"; fi
  # Readable for every user of the machine, whatever the checkout's permissions are.
  tar -C "$repository" --exclude=./node_modules --exclude=./.git --exclude=./.data --exclude=./.tap --mode=a+rX \
    -cf "$tree/snapshot.tar" .
  for module in $modules; do
    file=$(find "$packages"/{,root/}{usr/,}lib/modules -name "$module.ko*" -print -quit 2>/dev/null || true)
    if [ -n "$file" ]; then
      cp "$file" "$tree/modules/"
      echo "${file##*/}" >>"$tree/modules/list"
    fi
  done
  (cd "$tree" && find . | "$packages/bin/busybox" cpio -o -H newc -R 0:0 2>/dev/null) >"$work/initramfs.cpio"
}

kernel_words='panic=-1 cgroup_no_v1=all mitigations=off apparmor=0'

# Runs QEMU with the arguments that are the same for every architecture, and further ones.
emulate() {
  local libraries=$packages/usr/lib/x86_64-linux-gnu:$packages/lib/x86_64-linux-gnu
  : >"$work/status"
  exec setpriv --pdeathsig TERM timeout --kill-after=5 "$((ends > SECONDS ? ends - SECONDS : 1))" \
    setpriv --pdeathsig KILL env "LD_LIBRARY_PATH=$libraries" "$packages/usr/bin/$1" -L "$packages/usr/share/qemu" \
    -accel tcg,thread=multi,tb-size=1024 -smp 2 -m "${CGROUP2_MEMORY_MIB:-4096}" \
    -nodefaults -no-user-config -no-reboot -display none -nic none \
    -sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny \
    -initrd "$work/initramfs.cpio" \
    -chardev stdio,id=output,signal=off -chardev "file,id=status,path=$work/status" \
    -virtfs "local,path=$share,mount_tag=host,security_model=none,readonly=on,multidevs=remap" \
    "${@:2}" </dev/null
}

# Passes on what the machine prints once it is up. Fails when the machine does not come up, or hangs.
pass_output() {
  local line status
  IFS= read -r -t "$boot_seconds" line && [ "$line" = "$up_line" ] || return 1
  while true; do
    status=0
    IFS= read -r -t "$silence_seconds" line || status=$?
    # The last line may have no line end.
    if [ "$status" -ne 0 ]; then printf '%s' "$line"; break; fi
    printf '%s\n' "$line"
  done
  # 1 at the end of the output, above 128 when the time ran out.
  [ "$status" -le 128 ]
}

timeout_seconds=${CGROUP2_TIMEOUT_SECONDS:-1800}
silence_seconds=${CGROUP2_SILENCE_SECONDS:-$timeout_seconds}
ends=$((SECONDS + timeout_seconds))
# A boot takes 7 s on a quiet machine.
boot_seconds=120
up_line='the machine is up'
if [ $# -eq 0 ]; then set -- "$here/suite.sh"; fi
mkdir -p "$cache"
# One download at a time. A partial download of a killed run is removed.
exec {lock}>"$cache/lock"
flock "$lock"
if [ ! -d "$packages" ]; then
  rm -rf "$packages.part"
  # Renamed at the end, so that a partial download is never used.
  fetch_packages "$packages.part"
  mv "$packages.part" "$packages"
fi
exec {lock}>&-
find "$cache" -maxdepth 1 -name 'run.*' -mmin +1440 -exec rm -rf {} +

work=$(mktemp -d "$cache/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
build_initramfs "$@"
mkfifo "$work/output"

for attempt in 1 2 3; do
  # In the background, so that this script handles a signal at once and ends QEMU.
  boot >"$work/output" &
  machine=$!
  trap 'kill "$machine" 2>/dev/null; wait "$machine"; exit 130' INT TERM HUP
  up=yes
  pass_output <"$work/output" || up=
  if [ -z "$up" ]; then kill "$machine" 2>/dev/null || true; fi
  status=0
  wait "$machine" || status=$?
  if [ -n "$up" ] || [ "$SECONDS" -ge "$ends" ]; then break; fi
  say "boot $attempt did not come up, or stood still (QEMU's status $status); the end of its console:"
  tail -n 20 "$work/console" >&2 || true
done

if [ -s "$work/status" ]; then exit "$(<"$work/status")"; fi
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
  say "no end after $timeout_seconds s; killed"
  exit 124
fi
say "the machine failed (QEMU's status $status); the end of its console:"
tail -n 40 "$work/console" >&2 || true
exit 125
