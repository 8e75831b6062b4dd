import type { Guarantee } from "./guarantee.ts";
import { GUARANTEES } from "./registry.ts";
import type { Rule } from "./rules.ts";
import { RULES, watchersOf } from "./rules.ts";

/** The page docs/guarantees.md: every guarantee in its own words, and which rule is watched by which. */
export function describeGuarantees(guarantees: readonly Guarantee[] = GUARANTEES): string {
  const rows = RULES.map((rule) => rowOf(rule, guarantees));
  const table = [RULES_INTRODUCTION, ...rows].join("\n");
  return `${[INTRODUCTION, ...guarantees.map(describe), table].join("\n\n")}\n`;
}

const INTRODUCTION = `# Guarantees

<!-- Written by describeGuarantees (src/checkers). To renew: npx vitest run test/unit/checkers/describe-guarantees.test.ts --update -->

What a run watches. Each guarantee is a fold over facts (src/trace/fact.ts); none looks into a node.
After a run it is *held*, *violated*, or *untested*: then nothing happened that could have broken it.

A violation is *permitted* if the configuration allows it and the cause that allows it is among its
own causes. Any other is a bug. Where a quorum goes on without metadata that was committed, and that is
permitted (metadata-kept), whatever is broken from then on is permitted with it. Violations of one
partition with one cause are one finding: the first is told, the others are folded under it.`;

const RULES_INTRODUCTION = `## Who watches which rule

The names by which sources mention a rule, and what watches it. *Elsewhere* is where a rule is held of
which no fact tells, or tells all.

| rule | demands | watched by | elsewhere |
|---|---|---|---|`;

function rowOf(rule: Rule, guarantees: readonly Guarantee[]): string {
  const { name, demands, elsewhere = [] } = rule;
  const watchers = watchersOf(rule, guarantees).map((one) => `[${one}](#${one})`);
  const places = elsewhere.map(([file, how]) => `[${file}](../${file}): ${how}`);
  return `| ${name} | ${demands} | ${watchers.join(", ")} | ${places.join("; ")} |`;
}

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
