#!/usr/bin/env bash
# Has Kafka's assignors assign partitions and keeps what they answered: fixture/assignments.json.gz. See README.md.
# Needs a JDK of 17 or newer and Maven with its registry; says so and ends with 0 where they are not.
set -euo pipefail
cd "$(dirname "$0")"
for tool in javac java mvn; do
  if ! command -v "$tool" > /dev/null; then
    echo "skipped: make-assignments.sh needs $tool"
    exit 0
  fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
java=java/tools
(cd "$java" && mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath "-Dmdep.outputFile=$work/jars")
mkdir "$work/classes"
javac -proc:none --release 17 -cp "$(cat "$work/jars")" -d "$work/classes" "$java"/src/main/java/conformance/AssignPartitions.java
java -Dorg.slf4j.simpleLogger.defaultLogLevel=off -cp "$work/classes:$(cat "$work/jars")" \
  conformance.AssignPartitions "$work/assignments.json" 6
gzip -9n < "$work/assignments.json" > fixture/assignments.json.gz
