# Process 1 of the machine once it is up (see ./run.sh): runs the order, then ends the machine with its status.
# It stays process 1, as init would, so that orphans have a parent that reaps them; or systemd is, and this its unit.
read -r output status </run/serial
stty -F "/dev/$output" raw -echo 115200
stty -F "/dev/$status" raw -echo 115200
# What ./run.sh waits for.
echo 'the machine is up' >"/dev/$output"
# Through a pipe: what is run must see no terminal, as under CI.
bash /run/order </dev/null 2>&1 | cat >"/dev/$output"
code=${PIPESTATUS[0]}
# Let the serial lines drain, then turn the machine off.
echo "$code" >"/dev/$status"
stty -F "/dev/$output" drain 2>/dev/null || sleep 0.2
stty -F "/dev/$status" drain 2>/dev/null || sleep 0.2
echo o >/proc/sysrq-trigger
