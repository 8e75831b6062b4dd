#!/usr/bin/env bash
# Has Kafka's cleaner clean random logs and keeps what it left: fixture/cleaned.json.gz. See README.md.
# Needs a JDK of 17 or newer and Maven with its registry. Tests need neither.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
java=java/tools
(cd "$java" && mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath "-Dmdep.outputFile=$work/jars")
mkdir "$work/classes"
javac -proc:none --release 17 -cp "$(cat "$work/jars")" -d "$work/classes" \
  "$java"/src/main/java/org/apache/kafka/storage/internals/log/CleanLogs.java
java "-Djava.io.tmpdir=$work" -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$work/classes:$(cat "$work/jars")" \
  org.apache.kafka.storage.internals.log.CleanLogs fixture/cleaned.json.gz 200
