# Process 1 of the machine once it is up (see ./run.sh): runs the order, then ends the machine with its status.
# It stays process 1, as init would, so that orphans have a parent that reaps them; or systemd is, and this its unit.
stty -F /dev/ttyS1 raw -echo 115200
# What ./run.sh waits for.
echo 'the machine is up' >/dev/ttyS1
# Through a pipe: what is run must see no terminal, as under CI.
bash /run/order </dev/null 2>&1 | cat >/dev/ttyS1
status=${PIPESTATUS[0]}
if [ "$status" -gt 62 ]; then status=62; fi
# Let the serial line drain, then write to isa-debug-exit's port: QEMU exits with twice the value plus one.
stty -F /dev/ttyS1 drain 2>/dev/null || sleep 0.2
printf "\\x$(printf %x $((status + 1)))" | dd of=/dev/port bs=1 seek=$((0xf4)) conv=notrunc status=none
