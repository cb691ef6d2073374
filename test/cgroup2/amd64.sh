# The machine of ./run.sh with this host's own files, for x86-64: its kernel, and how QEMU boots it. Sourced by run.sh.

packages=$cache/packages
share=/
own_path=$repository/node_modules/.bin:
serial='ttyS1 ttyS2'
busybox=bin/busybox

# Downloads and unpacks what the host lacks.
fetch_packages() {
  local wanted kernel
  # apt-get only names what QEMU needs and the host lacks; --simulate installs nothing.
  wanted=$(list_missing qemu-system-x86)
  kernel=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-/ { print $2; exit }')
  # QEMU itself, its modules and firmware, and busybox are taken even when the host has them: one place to find them.
  download "$1" "$kernel" busybox-static qemu-system-x86 qemu-system-common qemu-system-data seabios $wanted
}

# An old CPU, because without AVX everything is a fifth faster here; rdrand, so that the machine has entropy at once.
# `mitigations=off`, `apparmor=0`, no five-level page tables: less to emulate. `tsc=reliable`: without it the kernel
# distrusts the emulated clock and falls back to one that costs a trip into QEMU for each reading.
boot() {
  emulate qemu-system-x86_64 -L "$packages/usr/share/seabios" \
    -machine pc -cpu Nehalem-v1,+rdrand \
    -kernel "$packages"/boot/vmlinuz-* \
    -append "console=ttyS0 no5lvl tsc=reliable random.trust_cpu=on $kernel_words" \
    -serial "file:$work/console" -serial chardev:output -serial chardev:status
}
