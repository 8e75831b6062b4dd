#!/usr/bin/env bash
# Does Kafka read what the simulator writes? Exports log directories of simulated runs, opens them with Kafka's own dump
# tool and log loader, and compares every line and record with what `sim` says. See README.md.
# Needs a JDK of 17 or newer and Maven with its registry; without them it says so and ends with 0.
set -euo pipefail
shopt -s nullglob
cd "$(dirname "$0")/../.."
for program in java javac mvn; do
  if ! command -v "$program" > /dev/null; then
    echo "skipped: there is no \`$program\` here, so Kafka cannot be asked"
    exit 0
  fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
java=test/conformance/java/tools
(cd "$java" && mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath "-Dmdep.outputFile=$work/jars")
mkdir "$work/classes"
javac -proc:none --release 17 -cp "$(cat "$work/jars")" -d "$work/classes" "$java"/src/main/java/conformance/*.java
node build.mjs command "$work/sim.cjs"
sim() { node "$work/sim.cjs" "$@"; }
kafka() {
  java -Dfile.encoding=UTF-8 -Dstdout.encoding=UTF-8 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -cp "$work/classes:$(cat "$work/jars")" "$@"
}
failures=0
fail() {
  echo "  DIFFERS $1"
  failures=$((failures + 1))
}

# same FLAGS FILE...: the dump tool prints what `sim dump` prints, and complains of nothing.
same() {
  local flags=$1
  shift
  kafka org.apache.kafka.tools.DumpLogSegments $flags --files "$(IFS=,; echo "$*")" \
    > "$work/theirs" 2> "$work/complaints" || fail "the dump tool failed"
  sim dump $flags "$@" > "$work/ours" || fail "sim dump finds damage"
  # Some of Kafka's lines end with a blank. Holes in offsets are no complaint: cleaning makes them.
  diff <(sed 's/ *$//' "$work/theirs") "$work/ours" > "$work/diff" || fail "dumps: $(head -n 6 "$work/diff")"
  grep -v '^Non-consecutive offsets\|is followed by' "$work/complaints" > "$work/diff" && fail "complaints: $(cat "$work/diff")"
  return 0
}

# check NAME, then the words of `sim disk` without an action: one directory, there and back.
check() {
  local name=$1 directory dump
  shift
  echo "== $name: sim disk $*"
  dump=$work/$name.json
  sim disk "$@" export "$work/$name"
  for directory in "$work/$name"/*/; do
    (
      cd "$directory"
      failures=0
      topics=()
      metadata=()
      for file in */*.log */*.index */*.timeindex */*.txnindex */*.snapshot */*.checkpoint; do
        if [[ $file == __cluster_metadata-0/* ]]; then metadata+=("$file"); else topics+=("$file"); fi
      done
      if [[ ${#topics[@]} -gt 0 ]]; then same --deep-iteration "${topics[@]}"; fi
      if [[ ${#metadata[@]} -gt 0 ]]; then same --cluster-metadata-decoder "${metadata[@]}"; fi
      echo "  ok the dump tool prints the same of $((${#topics[@]} + ${#metadata[@]})) files"
      exit "$failures"
    ) || failures=$((failures + 1))
    logs=("$directory"*/*.log)
    sim disk "$@" dump --json --print-data-log "${logs[@]#"$work/$name/"}" > "$dump"
    cp -r "$directory" "$work/as-exported"
    kafka conformance.CheckExport "${directory%/}" "$dump" 2> "$work/complaints" || failures=$((failures + 1))
    if [[ -s $work/complaints ]]; then fail "the loader complains: $(cat "$work/complaints")"; fi
    if [[ -e ${directory}.kafka_cleanshutdown ]]; then
      # What was stopped in order is opened and closed without a change; but snapshots below a start that has moved are
      # removed at each start, and the metadata log is opened as after an unclean stop by both.
      diff -r -x __cluster_metadata-0 "$work/as-exported" "$directory" | grep -v '^Only in .*/as-exported/.*[.]snapshot$' \
        > "$work/diff" && fail "files: $(head -n 6 "$work/diff")" || echo "  ok the loader leaves the files as they were"
    fi
    rm -r "$work/as-exported"
  done
}

check failover scenarios/leader-failover.yaml --broker 1
check failover-old-leader scenarios/leader-failover.yaml --broker 2
check failover-running scenarios/leader-failover.yaml --broker 3 --at 5s
check controller scenarios/leader-failover.yaml --controller 2
# Two leaders, segments that rolled, compacted and deleted, an orderly stop.
all=test/conformance/scenarios/export.yaml
check orderly-stop "$all" --broker 3 --at 30.5s
check cleaned-and-deleted "$all" --broker 1 --at 32s
check after-a-crash "$all" --broker 2
check other-seed "$all" --broker 1 --seed 8
# Every codec, of producers and of topics, compacted too.
check codecs test/conformance/scenarios/codecs.yaml --broker 1 --at 5s
echo
if [[ $failures -gt 0 ]]; then
  echo "$failures differences"
  exit 1
fi
echo "Kafka reads what the simulator writes."
