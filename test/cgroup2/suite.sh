#!/usr/bin/env bash
# Runs the executor's tests inside the v2 machine (see ./run.sh), once for each way in which a worker meets cgroup v2.
# Separate from the machine: this file knows Runledger, the machine runs any command.
#
# A group is a directory under /sys/fs/cgroup. Its processes are in cgroup.procs; cgroup.controllers lists what its
# parent hands out; what it writes to cgroup.subtree_control its children get. A group other than the real root may hold
# processes or hand out controllers, never both ("no internal processes"). Hence the layouts:
#
#  root       root in the machine's root group, the one place without that rule (kernel threads, which nobody can move,
#             are in it): a machine without systemd; and nobody but root may make user namespaces
#  delegated  an unprivileged worker under systemd with Delegate=yes and DelegateSubgroup=: it owns a subtree (the
#             directory and the three files that systemd hands over, not the limits of the subtree itself) and starts in
#             a leaf of it
#  service    the same without DelegateSubgroup=, as before systemd 254: it starts at the top of its subtree and must
#             move into a leaf before it can hand out controllers
#  container  root in a container: the top of a cgroup namespace looks like a root group, but the rule holds there, our
#             processes are in it, nothing is handed out yet, and the worker is process 1
#
# and those in which the limits cannot be had, where the executor must refuse to start (./refusal.ts):
#
#  no-memory  delegated, but the parent keeps the memory controller to itself
#  read-only  a container whose /sys/fs/cgroup is mounted read-only, Docker's default
#  foreign    an unprivileged worker in a group that is not its own: a service without Delegate=
#
# Usage, in the machine: test/cgroup2/suite.sh [layout…]      default: all
#   CGROUP2_TESTS, CGROUP2_ROOT_TESTS  what to run instead of `tests` and `root_tests` below, in the same form
#                                      (through run.sh: CGROUP2_ENV='CGROUP2_TESTS CGROUP2_ROOT_TESTS')
#   CGROUP2_BEGINS_SECONDS             how long a next file is begun (no end); what is left out then is said
# The tests get TIME_FACTOR, how many times slower than the host the machine is, and CGROUP_LAYOUT.
set -euo pipefail
. "$(dirname "$0")/start-time.sh"

# What runs in each layout, and what more in the first: a file a line and, after it, a pattern for the names of its tests.
# In emulation there is no time for all of them, and what no cgroup has a part in is tested on the host.
tests=${CGROUP2_TESTS-'
test/executor/cgroup/cgroup.test.ts /^a (slot has|group of|keeper has|group that is|name)|^measuring|dead worker/
test/executor/box/phase.test.ts  /computing in python|child|megabytes touched in cpp|leaves behind|memory limit|any moment/
test/executor/box/keeper/prestarted-java.test.ts /before its program|its rights|more memory|charged|left behind/
test/executor/box/loopback.test.ts /only loopback/
test/doctor/doctor.test.ts /lacks nothing/
'}
root_tests=${CGROUP2_ROOT_TESTS-'
test/executor/executor.test.ts /^(cpp|java) that takes/
test/executor/box/loopback.test.ts /no run had before|refused|leave nothing/
test/executor/box/inside.test.ts /first process|devices are|in a file works/
test/interactor/residue.test.ts /crashes|that hold/
test/language/conformance.test.ts
'}
# For conformance, which looks for no others: what is small.
export LANGUAGES=${LANGUAGES-'c lua'}
# Those that most hosts have first: a slow machine has no time for the last.
layouts='root container no-memory read-only foreign delegated service'
file_timeout_seconds=400
begins_seconds=${CGROUP2_BEGINS_SECONDS:-100000}

top=/sys/fs/cgroup
ours=$top/runledger-test
worker_uid=970
worker_home=/tmp/worker

# Every group right under the given one gets the controllers that the executor needs, less the one named.
hand_out() {
  local controller
  for controller in cpu cpuset memory pids; do
    if [ "$controller" != "${2:-}" ]; then echo "+$controller" >"$1/cgroup.subtree_control"; fi
  done
}

# Makes a group of the worker's own, as systemd does it (systemd.resource-control(5), Delegate=).
delegate() {
  mkdir -p "$1"
  chown "$worker_uid:$worker_uid" "$1" "$1"/cgroup.{procs,threads,subtree_control}
}

# Becomes the worker in a group; `0` is the writer itself. For subshells: it does not return.
become_worker() {
  echo 0 >"$1/cgroup.procs"
  exec setpriv --reuid "$worker_uid" --regid "$worker_uid" --clear-groups --inh-caps=-all --bounding-set=-all \
    env "HOME=$worker_home" "${@:2}"
}

# Becomes process 1 of a container, its cgroup tree mounted `rw` or `ro`. The group is joined from within the new pid
# namespace, so that unshare's waiting parent, which nobody in there could move, stays outside.
become_container() {
  exec unshare --pid --fork --kill-child --mount --mount-proc bash -c '
    echo 0 >"$0/cgroup.procs"
    exec unshare --cgroup bash -c "$@"' "$ours/container" '
      umount /sys/fs/cgroup
      mount -t cgroup2 -o "$0,nosuid,nodev,noexec" cgroup2 /sys/fs/cgroup
      exec "$@"' "$@"
}

# Sets a layout up and becomes, in it, the command.
enter() {
  local layout=$1 service=$ours/worker.service
  shift
  if [ "$layout" = root ]; then
    echo 0 >/proc/sys/kernel/unprivileged_userns_clone
    exec "$@"
  fi
  mkdir -p "$service" "$ours/container"
  hand_out "$top"
  case $layout in no-memory) hand_out "$ours" memory ;; *) hand_out "$ours" ;; esac
  case $layout in
    delegated | no-memory)
      delegate "$service"
      delegate "$service/supervisor"
      become_worker "$service/supervisor" "$@"
      ;;
    service)
      delegate "$service"
      become_worker "$service" "$@"
      ;;
    foreign) become_worker "$service" "$@" ;;
    container) become_container rw "$@" ;;
    read-only) become_container ro "$@" ;;
    *) echo "no such layout: $layout" >&2 && exit 64 ;;
  esac
}

# Back to the machine as it booted: what a pass leaves may neither help nor hurt the next one.
reset() {
  local group controller
  for group in "$top"/*/; do
    if [ ! -d "$group" ]; then continue; fi
    echo 1 >"$group/cgroup.kill"
    until grep -q 'populated 0' "$group/cgroup.events"; do sleep 0.1; done
    find "$group" -depth -type d -exec rmdir {} +
  done
  echo 1 >/proc/sys/kernel/unprivileged_userns_clone
  for controller in $(<"$top/cgroup.subtree_control"); do echo "-$controller" >"$top/cgroup.subtree_control"; done
}

output=/tmp/suite-output
summary=
failed=0
# Runs one file, or what of it has a name that matches, under one layout and notes how it ended. On the emulated processor
# Node has been seen to end itself (a check of V8's own, SIGSEGV), in a test as in what a test starts. A file that failed is
# run again, twice at most, if the kernel saw that happen meanwhile, and for nothing else.
run() {
  local begin=$SECONDS attempt=1 fallen
  if ((SECONDS > begins_seconds)); then
    summary+="# left out, as $begins_seconds s are over: $1 $2"$'\n'
    return
  fi
  until run_once "$@"; do
    fallen=$(list_fallen)
    if [ -z "$fallen" ] || [ "$attempt" -eq 3 ]; then
      summary+="not ok $1 $2 (run $attempt, $((SECONDS - begin)) s)"$'\n'
      failed=1
      return
    fi
    attempt=$((attempt + 1))
    echo "# once more, as a Node fell in the emulator ($fallen): $1: $2"
    summary+="# a Node fell in the emulator: $1 $2 ($fallen)"$'\n'
  done
  summary+="ok $1 $2 (run $attempt, $((SECONDS - begin)) s)"$'\n'
}

# Which of a Node's threads ended it by a signal that leaves a core, since the log was emptied. The kernel names the signal, then
# the thread.
list_fallen() {
  dmesg | awk '
    match($0, /potentially unexpected fatal signal [0-9]+/) { signal = substr($0, RSTART + 36, RLENGTH - 36) }
    match($0, /Comm: [^ ]+/) && signal != "" {
      name = substr($0, RSTART + 6, RLENGTH - 6)
      if (name ~ /^(node|MainThread|V8Worker|libuv-worker|DelayedTaskSche|WorkerThread)$/)
        found = found (found == "" ? "" : ", ") name " by signal " signal
      signal = ""
    }
    END { print found }'
}

# The time limit is outside the layout: `timeout` is then no process of the worker's group. Should the limit strike, reset
# ends what is left.
run_once() {
  local status=0
  echo "# $1: $2"
  dmesg --clear
  if [ -n "${3:-}" ]; then export TAP_GREP=$3; else unset TAP_GREP; fi
  CGROUP_LAYOUT=$1 timeout --kill-after=5 "$file_timeout_seconds" "$0" --enter "$1" node "$2" | tee "$output" || status=$?
  reset
  # A pattern that fits no name any more must not pass for a success.
  if ! grep -q '^    ok ' "$output"; then
    echo "# no test of $2 ran under $1"
    status=${status/#0/1}
  fi
  if [ "$status" -ne 0 ]; then echo "# $2 under $1 ended with $status"; fi
  return "$status"
}

if [ "$(hostname)" != cgroup2 ] || [ "$(stat -f -c %T "$top")" != cgroup2fs ]; then
  echo 'this runs inside the machine: test/cgroup2/run.sh' >&2
  exit 64
fi
if [ "${1:-}" = --enter ]; then enter "${@:2}"; fi

# Rounded up.
TIME_FACTOR=$((($(measure_start_us) + HOST_START_US - 1) / HOST_START_US))
# tap ends a file that is run by itself after 30 s if not told otherwise.
export TIME_FACTOR TAP_TIMEOUT=$file_timeout_seconds TAP_FILTER_QUIETLY=1
# Without it a file that does nothing but load tap takes 2.9 s, with it 1.8.
export NODE_COMPILE_CACHE=/tmp/node-compile-cache
mkdir -m 1777 "$NODE_COMPILE_CACHE"
mkdir "$worker_home"
chown "$worker_uid:$worker_uid" "$worker_home"
# tap's fixtures go there, and the directory is root's.
mkdir -p .tap
# For list_fallen.
echo 1 >/proc/sys/kernel/print-fatal-signals
mount -t tmpfs -o mode=1777 tap .tap
echo "# $(uname -r), $TIME_FACTOR times slower than the host"

if [ $# -eq 0 ]; then set -- $layouts; fi
for layout in "$@"; do
  case $layout in
    no-memory | read-only | foreign) run "$layout" test/cgroup2/refusal.ts ;;
    *)
      while read -r file names; do
        if [ -n "$file" ]; then run "$layout" "$file" "$names" </dev/null; fi
      done <<<"$tests$(if [ "$layout" = root ]; then echo "$root_tests"; fi)"
      ;;
  esac
done
printf '# summary\n%s' "$summary"
exit "$failed"
