import type { BrokerConfigs } from "./broker-configs.ts";

/**
 * The directories that `log.dirs` names, as paths from the root of the node's file systems; at least
 * one, as a value that names none is refused before.
 */
export function logDirectories(
  configs: Pick<BrokerConfigs, "log.dirs">,
): readonly [string, ...string[]] {
  const [first = "", ...others] = configs["log.dirs"]
    .split(",")
    .map((name) => name.trim().replace(/^\//, ""));
  return [first, ...others];
}

/** What is wrong with a value of `log.dirs`, or undefined. */
export function complainAboutLogDirectories(value: string): string | undefined {
  const directories = logDirectories({ "log.dirs": value });
  const odd = directories.find((name) => !DIRECTORY.test(name));
  if (odd !== undefined)
    return `names no directory with "${odd}"; take letters, digits, . _ - and /`;
  for (const [at, one] of directories.entries()) {
    for (const other of directories.slice(at + 1)) {
      if (one === other) return `names ${one} twice`;
      if (one.startsWith(`${other}/`)) return `has ${one} inside ${other}`;
      if (other.startsWith(`${one}/`)) return `has ${other} inside ${one}`;
    }
  }
  return undefined;
}

/** No `.` or `..`, and no slash at the ends. */
const DIRECTORY = /^(?!\.)[A-Za-z0-9._-]+(\/(?!\.)[A-Za-z0-9._-]+)*$/;
