#!/usr/bin/env bash
# Writes down what Kafka's own dump tool prints of the fixture: fixture/*/dump.txt.gz. See README.md.
# Needs a JDK of 17 or newer and Maven with its registry. Tests need neither.
set -euo pipefail
shopt -s extglob nullglob
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd java/tools && mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath \
  "-Dmdep.outputFile=$work/jars")

# dump FLAGS FILE...: a line with the flags, then what the tool prints.
dump() {
  local flags=$1 files
  shift
  files=$(IFS=,; echo "$*")
  echo "# $flags"
  java -Dfile.encoding=UTF-8 -Dstdout.encoding=UTF-8 -cp "$(cat "$work/jars")" \
    org.apache.kafka.tools.DumpLogSegments $flags --files "$files" 2>> "$work/complaints"
}

for directory in fixture/kafka-*/log-dir; do
  (
    cd "$directory"
    topics=(!(__cluster_metadata-0)/*.@(log|index|timeindex|txnindex|snapshot))
    metadata=(__cluster_metadata-0/*.@(log|index|timeindex|snapshot|checkpoint) *.checkpoint)
    dump --deep-iteration "${topics[@]}"
    dump --cluster-metadata-decoder "${metadata[@]}"
    dump --print-data-log {plain,idempotent,rolled,transactional}-0/*.log
    dump "--print-data-log --skip-record-metadata" {plain,transactional}-0/*.log
    dump --index-sanity-check {plain,keyed,headers}-0/*.@(index|timeindex)
  ) | gzip -9n > "$directory/../dump.txt.gz"
done

# The tool takes a name for a number: the old logs get theirs by their order.
mkdir "$work/old"
number=0
for log in fixture/old-magic/*.log; do
  cp "$log" "$work/old/$(printf '%020d' "$number").log"
  number=$((number + 1))
done
(cd "$work/old" && dump --print-data-log *.log) | gzip -9n > fixture/old-magic/dump.txt.gz
grep -v '^SLF4J\|^Non-consecutive\|is followed by' "$work/complaints" || true
ls -l fixture/*/dump.txt.gz
