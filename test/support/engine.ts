import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";

/**
 * The core as one bundle, as it is shipped. The test runner's own way to load modules makes a run
 * several times slower; tests of hundreds of runs use this one.
 */
export const engine: typeof import("./engine-entry.ts") = load();

function load(): typeof import("./engine-entry.ts") {
  const outfile = join(mkdtempSync(join(tmpdir(), "kafka-sim-")), "engine.cjs");
  buildSync({
    entryPoints: ["test/support/engine-entry.ts"],
    bundle: true,
    platform: "node",
    format: "cjs",
    outfile,
  });
  return createRequire(import.meta.url)(outfile);
}
