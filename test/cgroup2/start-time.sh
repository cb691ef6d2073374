# How fast a machine is, for ./run.sh on the host and ./suite.sh inside the machine to compare; sourced by both.

# Prints the microseconds that python3 takes to start, the quickest of seven: what else the machine does only adds to it.
# EPOCHREALTIME and not `date`, which would be a second process to start.
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
