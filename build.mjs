// Builds what is shipped: the command, with what its worker threads load, and the library. A word is what alone to build: `command`,
// `library`, or `bench` and `planted-bugs`, which are not shipped; a second word is another place to write to. Needs nothing but the packages
// of `npm ci`.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { deflateRawSync } from "node:zlib";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const [, , wanted = "all", place] = process.argv;

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

async function buildBench(outfile) {
  await build({ ...common, ...small, entryPoints: ["bench/main.ts"], outfile });
  await buildFuzzWorker(outfile);
}

/** What a worker thread of `sim fuzz` loads: it is looked for beside whoever opens the pool. */
async function buildFuzzWorker(beside) {
  const outfile = join(dirname(beside), "fuzz-worker.cjs");
  await build({ ...common, ...small, entryPoints: ["src/cli/fuzz-worker.ts"], outfile });
}

/** Breaks the engine in its sources, and so needs them and esbuild where it runs. */
async function buildPlantedBugs(outfile) {
  const packages = "external";
  const entryPoints = ["test/support/planted-bugs.ts"];
  await build({ ...common, format: "esm", packages, entryPoints, outfile });
}

async function buildCommand(outfile) {
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
  await buildFuzzWorker(outfile);
}

/** What `exports` of package.json names: modules that share what they have in common, and their types. */
async function buildLibrary(outdir) {
  rmSync(outdir, { recursive: true, force: true });
  const entryPoints = ["kafka-sim", "property", "vitest"].map(
    (name) => `src/library/entry/${name}.ts`,
  );
  await build({
    bundle: true,
    splitting: true,
    platform: "neutral",
    target: "es2023",
    format: "esm",
    packages: "external",
    logLevel: "warning",
    legalComments: "none",
    entryPoints,
    outdir,
  });
  await writeDeclarations(entryPoints, join(outdir, "types"));
}

/**
 * The declarations of modules and of what they need, file by file, which takes a fifth of the time of a whole program:
 * nearly every file says of itself what it exports. Types are not checked; `npm run types` does that.
 */
async function writeDeclarations(entryPoints, outdir) {
  const { default: ts } = await import("typescript");
  const { options } = ts.getParsedCommandLineOfConfigFile("tsconfig.core.json", {}, ts.sys);
  const alone = { ...options, isolatedDeclarations: true, sourceMap: false, composite: false };
  const inferred = [];
  // Grows while it is walked: each file brings those that it names.
  const files = new Set(entryPoints.map((file) => resolve(file)));
  for (const file of files) {
    const source = readFileSync(file, "utf8");
    const how = { fileName: file, compilerOptions: alone, reportDiagnostics: true };
    const { outputText, diagnostics } = ts.transpileDeclaration(source, how);
    if (diagnostics.length > 0) inferred.push(file);
    else writeDeclaration(file, outputText, outdir);
    for (const [, near] of outputText.matchAll(/["'](\.[^"']*\.ts)["']/g)) {
      files.add(resolve(dirname(file), near));
    }
  }
  // Tables of which the compiler has to infer the type.
  const together = { ...options, sourceMap: false, composite: false, noCheck: true, noLib: true };
  const program = ts.createProgram(inferred, together);
  for (const file of inferred) {
    const write = (_, text) => writeDeclaration(file, text, outdir);
    program.emit(program.getSourceFile(file), write, undefined, true);
  }
}

/** Modules are imported by the names that they have when they are JavaScript. */
function writeDeclaration(file, text, outdir) {
  const path = join(outdir, relative("src", file).replace(/\.ts$/, ".d.ts"));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.replace(/(["']\.[^"']*)\.ts(["'])/g, "$1.js$2"));
}

if (wanted === "bench") await buildBench(place ?? "dist/bench.cjs");
if (wanted === "planted-bugs") await buildPlantedBugs(place ?? "dist/planted-bugs.mjs");
await Promise.all([
  wanted === "command" || wanted === "all" ? buildCommand(place ?? "dist/sim.cjs") : undefined,
  wanted === "library" || wanted === "all" ? buildLibrary(place ?? "dist/library") : undefined,
]);
