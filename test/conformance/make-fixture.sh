#!/usr/bin/env bash
# Makes the fixture anew: starts real brokers, writes to them, keeps their log directories. See README.md.
# Needs a JDK of 17 or newer and Maven with its registry; a few minutes. Tests need neither.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compile NAME DIRECTORY [MAVEN OPTION]...: leaves the class path in $work/NAME.path
compile() {
  local name=$1 directory=$2
  shift 2
  (cd "$directory" && mvn -q -B "$@" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath \
    "-Dmdep.outputFile=$work/$name.jars")
  mkdir "$work/$name"
  javac -proc:none --release 17 -cp "$(cat "$work/$name.jars")" -d "$work/$name" "$directory"/src/main/java/conformance/*.java
  echo "$work/$name:$(cat "$work/$name.jars")" > "$work/$name.path"
}
run() { java -cp "$(cat "$work/$1.path")" "conformance.$2" "${@:3}"; }

versions=${*:-4.3.1 4.4.0}
for version in $versions; do
  release=kafka-${version%.*}
  echo "== $release: $version"
  compile "$release" java "-Dkafka.version=$version"
  run "$release" WriteFixture "$work/data-$release" "$work/$release.json"
  rm -rf "fixture/$release"
  mkdir -p "fixture/$release"
  run "$release" DescribeFixture "$work/data-$release" "$work/$release.json" "fixture/$release"
  gzip -9n "fixture/$release/expected.json"
done

echo "== old-magic"
compile old-magic java/old-magic
rm -rf fixture/old-magic
run old-magic WriteOldMagic fixture/old-magic
run "$release" DescribeFixture fixture/old-magic fixture/old-magic/expected.json
./make-dump.sh
find fixture -type f -printf "%s\n" | awk '{ bytes += $1 } END { print bytes " bytes of fixture" }'
