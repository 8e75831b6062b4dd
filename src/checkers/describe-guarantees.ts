import type { Guarantee } from "./guarantee.ts";
import { GUARANTEES } from "./registry.ts";

/** The page docs/guarantees.md: every guarantee in its own words. */
export function describeGuarantees(guarantees: readonly Guarantee[] = GUARANTEES): string {
  return `${[INTRODUCTION, ...guarantees.map(describe)].join("\n\n")}\n`;
}

const INTRODUCTION = `# Guarantees

<!-- Written by describeGuarantees (src/checkers). To renew: npx vitest run test/unit/checkers/describe-guarantees.test.ts --update -->

What a run watches. Each guarantee is a fold over facts (src/trace/fact.ts); none looks into a node.
After a run it is *held*, *violated*, or *untested*: then nothing happened that could have broken it.

A violation is *permitted* if the configuration allows it and the cause that allows it is among its
own causes. Any other is a bug. Violations of one partition with one cause are one finding: the first
is told, the others are folded under it.`;

function describe(guarantee: Guarantee): string {
  const { name, sentence, source, kinds, condition, testedBy, example } = guarantee;
  return `## ${name}

${sentence}

- Source: ${source}.
- Kinds: ${kinds.map((kind) => `\`${kind}\``).join(", ")}
- ${condition}
- Tested by: ${testedBy}.

\`\`\`
${example.join("\n")}
\`\`\``;
}
