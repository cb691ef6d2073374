#!/bin/sh -e
# Unpacks Debian's patroni, etcd and PostgreSQL, and what of theirs this host lacks, into a folder; nothing is installed.
# usage: packages.sh FOLDER
wanted='patroni etcd-server postgresql-15 postgresql-client-15'
[ ! -e "$1/tree/complete" ] || exit 0
mkdir -p "$1/archives"
rm -rf "$1/tree"
cd "$1/archives"
apt-get install -s --no-install-recommends $wanted >/dev/null 2>&1 || apt-get update -q=2
missing=$(apt-get install -s --no-install-recommends $wanted | sed -n 's/^Inst \([^ ]*\).*/\1/p')
echo "taking out of Debian's packages:" $wanted
apt-get download -q=2 -o APT::Sandbox::User=root $(printf '%s\n' $wanted $missing | sort -u)
for archive in *.deb; do dpkg-deb --extract "$archive" ../tree; done
touch ../tree/complete
rm -rf "$PWD"
