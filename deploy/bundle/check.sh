#!/bin/sh
# Says in one line whether the installed service works: runs a program in each language of the bundle, then checks the whole
# log against its hashes. The output decides, because podman-compose prints an exit status and does not pass it on.
set -eu
said() { tr -d '\r' | sed '/^exit code: /d' | tail -n 1; }
cd "$(dirname "$0")"
. ./bundle.env
key=${STATE:-/var/lib/runledger}/key
ran=$(./compose.sh exec -T web node deploy/bundle/check.ts $LANGUAGES <"$key" 2>/dev/null | said)
log=$(./compose.sh run --rm -T operator audit verify 2>/dev/null | said)
case "$ran|$log" in
  'a program in each language is AC: '*'|'*' events: every hash fits, '*) echo "bundle: all is well: $ran; $log" ;;
  *)
    echo "bundle: NOT WELL: ${ran:-web does not answer (./compose.sh logs web)}; ${log:-the log could not be verified}"
    exit 1
    ;;
esac
