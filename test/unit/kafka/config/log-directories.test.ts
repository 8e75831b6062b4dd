import { expect, test } from "vitest";
import {
  complainAboutLogDirectories,
  logDirectories,
} from "../../../../src/kafka/config/log-directories.ts";

test("log.dirs names directories, with commas between them", () => {
  expect(logDirectories({ "log.dirs": "data" })).toEqual(["data"]);
  expect(logDirectories({ "log.dirs": "d1, d2 ,d3" })).toEqual(["d1", "d2", "d3"]);
  // From the root of the node's file systems.
  expect(logDirectories({ "log.dirs": "/disk1/kafka,/disk2" })).toEqual(["disk1/kafka", "disk2"]);
});

test.each([
  ["", "names no directory"],
  ["d1,,d2", "names no directory"],
  ["d1/../d2", "names no directory"],
  ["d1/", "names no directory"],
  ["d 1", "names no directory"],
  ["d1,d2,/d1", "names d1 twice"],
  ["d1,d1/d2", "has d1/d2 inside d1"],
  ["a/b,a", "has a/b inside a"],
])("log.dirs: %s is refused", (value, complaint) => {
  expect(complainAboutLogDirectories(value)).toContain(complaint);
});

test.each(["d1", "d1,d10", "a/b,a/c", "kafka-logs_1.x"])("log.dirs: %s is taken", (value) => {
  expect(complainAboutLogDirectories(value)).toBeUndefined();
});
