// Builds what is shipped: one file, the command, and what its worker threads load. `node build.mjs bench` builds the benchmark instead; a
// second word is another place to write to. Needs nothing but the packages of `npm ci`.
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const wanted = process.argv[2] ?? "command";

const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  // It looks for its own files beside itself.
  external: ["tinypool"],
  define: { __SIM_VERSION__: JSON.stringify(version) },
  logLevel: "warning",
  legalComments: "none",
};
const small = { minifySyntax: true, minifyWhitespace: true };

/**
 * What the commands need is kept in the file as compressed text, and compiled when a command runs: V8 has
 * to look through code even where it is not run, which made `sim --help` half as slow again as Node
 * itself. Long texts cost it time too, hence compressed.
 */
const commandsAsText = {
  name: "commands-as-text",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/perform\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "src/cli/perform.ts", namespace: "text" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "text" }, async ({ path }) => {
      const { outputFiles } = await build({
        ...common,
        ...small,
        // Code that is compiled from text has `require`, and no `import()` but an experimental one.
        supported: { "dynamic-import": false },
        entryPoints: [path],
        write: false,
      });
      const packed = deflateRawSync(outputFiles[0].contents, { level: 9 }).toString("base64");
      return {
        resolveDir: process.cwd(),
        contents: `
          const { compileFunction } = require("node:vm");
          const { inflateRawSync } = require("node:zlib");
          const text = inflateRawSync(Buffer.from("${packed}", "base64")).toString();
          const options = { filename: __filename + "#perform" };
          compileFunction(text, ["module", "exports", "require"], options)(module, exports, require);`,
      };
    });
  },
};

/** commander asks for processes at once, but only needs them for commands in files of their own. */
const withoutProcesses = {
  name: "without-processes",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      /[\\/]commander[\\/]/.test(importer) ? { path: "none", namespace: "none" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "none" }, () => ({ contents: "module.exports = {};" }));
  },
};

if (wanted === "bench") {
  const outfile = process.argv[3] ?? "dist/bench.cjs";
  await build({ ...common, ...small, entryPoints: ["bench/main.ts"], outfile });
} else {
  const outfile = process.argv[3] ?? "dist/sim.cjs";
  mkdirSync(dirname(outfile), { recursive: true });
  await build({
    ...common,
    ...small,
    entryPoints: ["src/cli/main.ts"],
    outfile,
    banner: { js: "#!/usr/bin/env node" },
    plugins: [commandsAsText, withoutProcesses],
  });
  chmodSync(outfile, 0o755);
  // What a worker thread of `sim fuzz` loads.
  await build({
    ...common,
    ...small,
    entryPoints: ["src/cli/fuzz-worker.ts"],
    outfile: join(dirname(outfile), "fuzz-worker.cjs"),
  });
}
