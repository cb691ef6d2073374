# Measures a machine's speed. ./run.sh on the host and ./suite.sh inside the machine source this, to compare both.

# Prints the microseconds that python3 takes to start, the least of seven, because other work of the machine only adds time.
# It reads EPOCHREALTIME, because `date` would be another process to start.
measure_start_us() {
  local begin end best=1000000000 i
  for i in 1 2 3 4 5 6 7; do
    begin=${EPOCHREALTIME/./}
    /usr/bin/python3 -c 0
    end=${EPOCHREALTIME/./}
    if ((end - begin < best)); then best=$((end - begin)); fi
  done
  echo "$best"
}
