import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { compileFunction } from "node:vm";
import type { BuildContext, Plugin } from "esbuild";
import { context } from "esbuild";
import type { Mutation } from "./mutation.ts";

/** What `engine.ts` is one of, as it is. */
export type Engine = typeof import("../engine-entry.ts");

/** Builds engines with one rule broken in each: bundles of the core, as `engine.ts` is one of it as it is. */
export class MutantEngines {
  readonly #build: BuildContext<{ write: false }>;
  readonly #patch: Patch;

  private constructor(build: BuildContext<{ write: false }>, patch: Patch) {
    this.#build = build;
    this.#patch = patch;
  }

  static async of(mutations: readonly Mutation[]): Promise<MutantEngines> {
    const patch: Patch = { mutation: undefined };
    const build = await context({
      entryPoints: ["test/support/engine-entry.ts"],
      bundle: true,
      platform: "node",
      format: "cjs",
      write: false,
      logLevel: "silent",
      plugins: [patching(patch, mutations)],
    });
    return new MutantEngines(build, patch);
  }

  /** Undefined is the engine as it is. Throws if the mutation's text is not in its file exactly once. */
  async load(mutation: Mutation | undefined): Promise<Engine> {
    this.#patch.mutation = mutation;
    const { outputFiles } = await this.#build.rebuild();
    const text = outputFiles[0]?.text ?? "";
    const module: { exports: Engine | undefined } = { exports: undefined };
    const body = compileFunction(text, ["module", "exports", "require"], {
      filename: `${mutation?.name ?? "engine"}.cjs`,
    });
    body(module, {}, createRequire(import.meta.url));
    if (module.exports === undefined) throw new Error("the bundle exports nothing");
    return module.exports;
  }

  dispose(): Promise<void> {
    return this.#build.dispose();
  }
}

/** The file's text with the mutation in it. Throws if it does not say where. */
export function mutated({ name, file, find, put }: Mutation): string {
  const text = readFileSync(file, "utf8");
  const at = text.indexOf(find);
  if (at < 0) throw new Error(`${name}: ${file} has no ${find}`);
  if (text.includes(find, at + 1)) throw new Error(`${name}: ${file} has more than one ${find}`);
  return text.slice(0, at) + put + text.slice(at + find.length);
}

/** Which mutation the next build has. */
interface Patch {
  mutation: Mutation | undefined;
}

function patching(patch: Patch, mutations: readonly Mutation[]): Plugin {
  const files = new Set(mutations.map(({ file }) => resolve(file)));
  return {
    name: "mutation",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!files.has(path)) return undefined;
        const { mutation } = patch;
        const isHere = mutation !== undefined && resolve(mutation.file) === path;
        return { loader: "ts", contents: isHere ? mutated(mutation) : readFileSync(path, "utf8") };
      });
    },
  };
}
