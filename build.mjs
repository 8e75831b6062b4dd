// Builds what is shipped: one file for the command, and types for those who import the library.
// `node build.mjs bench` builds the benchmark instead. Needs nothing but the packages of `npm ci`.
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const wanted = process.argv[2] ?? "command";

const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  define: { __SIM_VERSION__: JSON.stringify(version) },
  logLevel: "warning",
  legalComments: "none",
};

mkdirSync("dist", { recursive: true });
if (wanted === "bench") {
  await build({ ...common, entryPoints: ["bench/main.ts"], outfile: "dist/bench.cjs" });
} else {
  await build({
    ...common,
    entryPoints: ["src/cli/main.ts"],
    outfile: "dist/sim.cjs",
    banner: { js: "#!/usr/bin/env node" },
    minifySyntax: true,
    minifyWhitespace: true,
  });
  chmodSync("dist/sim.cjs", 0o755);
}
