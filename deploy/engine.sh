# For sh scripts that use podman or docker. A script that sources this file must define `say`.

# Prints ENGINE, or the first of podman and docker that works.
find_engine() {
  for name in ${ENGINE:-podman docker}; do
    if "$name" info >/dev/null 2>&1; then echo "$name" && return; fi
  done
  say 'neither podman nor docker works here: apt-get install podman runc' && exit 69
}
