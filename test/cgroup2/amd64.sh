# The machine of ./run.sh for x86-64, which uses this host's files: its kernel, and how QEMU boots it. run.sh sources this.

packages=$cache/packages
share=/
own_path=$repository/node_modules/.bin:
serial='ttyS1 ttyS2'
busybox=bin/busybox

# Downloads and unpacks the packages that the host lacks.
fetch_packages() {
  local wanted kernel
  # apt-get only lists the packages that QEMU needs and the host lacks; --simulate installs nothing.
  wanted=$(list_missing qemu-system-x86)
  kernel=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-/ { print $2; exit }')
  # QEMU, its modules and firmware, and busybox are downloaded even if the host has them, so that they are in one place.
  download "$1" "$kernel" busybox-static qemu-system-x86 qemu-system-common qemu-system-data seabios $wanted
}

# The CPU is an old one, because without AVX everything is a fifth faster here. It has rdrand, so that the machine has entropy
# at once. `mitigations=off`, `apparmor=0` and no five-level page tables leave less to emulate. Without `tsc=reliable` the
# kernel distrusts the emulated clock and uses one that costs a trip into QEMU for each reading.
boot() {
  emulate qemu-system-x86_64 -L "$packages/usr/share/seabios" \
    -machine pc -cpu Nehalem-v1,+rdrand \
    -kernel "$packages"/boot/vmlinuz-* \
    -append "console=ttyS0 no5lvl tsc=reliable random.trust_cpu=on $kernel_words" \
    -serial "file:$work/console" -serial chardev:output -serial chardev:status
}
