#!/bin/sh -e
# Unpacks packages of Debian, and what of theirs this host lacks, into the folder `tree` of a folder; nothing is installed.
# usage: packages.sh FOLDER PACKAGE...
folder=$1
shift
[ ! -e "$folder/tree/complete" ] || exit 0
mkdir -p "$folder/archives"
rm -rf "$folder/tree"
cd "$folder/archives"
apt-get install -s --no-install-recommends "$@" >/dev/null 2>&1 || apt-get update -q=2
missing=$(apt-get install -s --no-install-recommends "$@" | sed -n 's/^Inst \([^ ]*\).*/\1/p')
echo "taking out of Debian's packages: $*"
apt-get download -q=2 -o APT::Sandbox::User=root $(printf '%s\n' "$@" $missing | sort -u)
for archive in *.deb; do dpkg-deb --extract "$archive" ../tree; done
touch ../tree/complete
rm -rf "$PWD"
