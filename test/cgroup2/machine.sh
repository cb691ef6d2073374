# Runs the command in the machine once it is up (see ./run.sh), then turns the machine off and reports the command's status.
# It is process 1 and stays it, so that orphans have a parent that reaps them; or systemd is process 1 and runs this as a unit.
read -r output status </run/serial
stty -F "/dev/$output" raw -echo 115200
stty -F "/dev/$status" raw -echo 115200
# ./run.sh waits for this line.
echo 'the machine is up' >"/dev/$output"
# The output goes through a pipe, because the command must see no terminal, as in CI.
bash /run/order </dev/null 2>&1 | cat >"/dev/$output"
code=${PIPESTATUS[0]}
# Let the serial lines drain, then turn the machine off.
echo "$code" >"/dev/$status"
stty -F "/dev/$output" drain 2>/dev/null || sleep 0.2
stty -F "/dev/$status" drain 2>/dev/null || sleep 0.2
echo o >/proc/sysrq-trigger
