#!/usr/bin/env bash
# Boots a throw-away machine whose cgroups are v2, runs one command in it, and exits with that command's status.
#
# Why a machine: cgroup v2 is what every current distribution boots, but the controllers of a running kernel belong
# either to v1 or to v2, and a development machine or a build container may well have them in v1. A container cannot
# change that; another kernel can. So the executor's v2 code is tested on a real kernel, in software emulation (QEMU's
# TCG), which needs no privilege, no /dev/kvm and no disk image, and works wherever Debian's packages can be had.
#
# How it is made:
#  - CGROUP2_MACHINE names the file that knows the architecture: ./amd64.sh, unless told, or ./arm64.sh.
#  - Kernel, QEMU and busybox are Debian's packages, downloaded and unpacked under .data/cgroup2; nothing is installed,
#    so the host's /boot and package list stay as they are. Remove that directory to get newer ones.
#  - The initramfs is busybox, a few modules and ./init, built anew for each boot (it takes milliseconds), together with
#    `order`, the command to run.
#  - The host's / is the machine's (on arm64 packages of that architecture are), over 9p, read-only, under an overlay whose writes go to the machine's memory. The
#    machine therefore has the host's compilers, Node and this repository at the same path, and leaves nothing behind.
#    The repository's own files are a snapshot: editing them does not disturb a run. There is no network card.
#  - One serial line is the command's output, streamed to our stdout; one is the kernel's console, kept in a file and shown
#    when the machine dies. The exit status comes back by a third (see ./machine.sh), so that nothing the command prints can
#    be mistaken for it.
#
# About one boot in eighty stands still for good, a second after its kernel began. So a machine that does not say that it is
# up (`up_line`, the first line of output, which is not passed on), or is silent for longer than what it runs may be, is ended
# and booted again, three boots at most.
#
# Emulation is 10 to 20 times slower than the host. HOST_START_US (how long python3 takes to start here, measured just
# before the boot) goes along in the command's environment, so that ./suite.sh can measure the factor.
#
# Usage: test/cgroup2/run.sh [command [argument…]]      default: test/cgroup2/suite.sh
#   CGROUP2_TIMEOUT_SECONDS  for everything, boots included (1800); on a quiet machine 500 to 800 are enough
#   CGROUP2_SILENCE_SECONDS  how long the command may print nothing (as long as there is time)
#   CGROUP2_MACHINE          amd64 or arm64
#   CGROUP2_MEMORY_MIB       the machine's memory (4096)
#   CGROUP2_INIT=systemd     systemd is process 1, and the command is run by a unit of it
#   CGROUP2_ENV              names of our environment variables to hand on, separated by spaces
# Exit status: the command's; 124 when the time ran out; 125 when the machine failed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
repository=$(cd "$here/../.." && pwd -P)
cache=$repository/.data/cgroup2

. "$here/start-time.sh"
. "$here/${CGROUP2_MACHINE:-amd64}.sh"

say() { echo "cgroup2: $*" >&2; }

# What apt would install here for a package. It only says so; --simulate installs nothing.
list_missing() {
  local found
  if ! found=$(apt-get install --simulate --no-install-recommends "$1" 2>/dev/null); then
    say 'the package lists are missing or old: apt-get update'
    apt-get update -q >&2
    found=$(apt-get install --simulate --no-install-recommends "$1")
  fi
  awk '/^Inst / { print $2 }' <<<"$found"
}

# Unpacks packages into a directory.
download() {
  local into=$1 wanted deb
  wanted=$(printf '%s\n' "${@:2}" | sort -u)
  say "downloading from Debian, into $packages only:" $wanted
  mkdir -p "$into/deb"
  # apt's own unprivileged user may not write here; the packages' signatures are checked all the same.
  (cd "$into/deb" && apt-get download -q -o APT::Sandbox::User=root $wanted >&2)
  for deb in "$into"/deb/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -C "$into" --keep-directory-symlink -x
    rm "$deb"
  done
  rmdir "$into/deb"
}

# What the machine does once it is up: a script for bash, with every word quoted by bash itself.
write_order() {
  printf 'set -e\ncd %q\n' "$repository"
  printf 'export PATH=%q/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n' "$own_path"
  printf 'export HOME=/root LANG=C.UTF-8 HOST_START_US=%q\n' "$(measure_start_us)"
  for name in ${CGROUP2_ENV:-}; do
    if [ -n "${!name+set}" ]; then printf 'export %s=%q\n' "$name" "${!name}"; fi
  done
  printf '%q ' "$@"
}

# In the order in which they need each other. One that a kernel does not have as a file is built in, or gone.
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
  # Readable for every user in there, whatever the checkout's own permissions.
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

# QEMU, with what is the same for every processor; and more of its words.
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

# Passes on what the machine prints once it is up. Fails when it does not come up, or stands still.
pass_output() {
  local line status
  IFS= read -r -t "$boot_seconds" line && [ "$line" = "$up_line" ] || return 1
  while true; do
    status=0
    IFS= read -r -t "$silence_seconds" line || status=$?
    # Without its end: the last words.
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
# One download at a time; and what a killed run left.
exec {lock}>"$cache/lock"
flock "$lock"
if [ ! -d "$packages" ]; then
  rm -rf "$packages.part"
  # Whole, or done anew.
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
  # In the background, so that a signal to us is handled at once and takes QEMU along.
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
