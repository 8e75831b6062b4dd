import { GUARANTEE_NAMES } from "./expectation/guarantee-holds.ts";
import { EXPECTATION_KINDS } from "./expectation/registry.ts";
import { STEP_KEYS } from "./fault-form.ts";
import type { KeyTable, Section } from "./form.ts";
import { SHAPES } from "./random-faults.ts";
import { GENERATOR_KEYS, RANDOM_FAULTS_KEYS } from "./random-faults-form.ts";
import { languageSections } from "./read-scenario.ts";
import type { Word } from "./vocabulary.ts";
import {
  BOOLEAN_FUNCTIONS,
  CLIENT_QUANTITIES,
  GROUP_QUANTITIES,
  GROUPS,
  NODE_FUNCTIONS,
  PARTITION_QUANTITIES,
  RELATIONS,
} from "./vocabulary.ts";

/** The page docs/scenario-language.md: every key and every word, as the reader itself knows them. */
export function describeLanguage(): string {
  const parts = [
    INTRODUCTION,
    ...languageSections().map(describeSection),
    describeSteps(),
    describeRandomFaults(),
    describeWords(),
    describeExpectations(),
  ];
  return `${parts.join("\n\n")}\n`;
}

const INTRODUCTION = `# The language of scenarios

<!-- Written by describeLanguage (src/scenario). To renew: npx vitest run test/unit/scenario/reference.test.ts --update -->

A scenario is one document of YAML 1.2 without anchors and tags. \`sim check FILE\` tells all of its
mistakes at once, each with its place. Editors learn the language from
\`schema/scenario.v1.schema.json\`.

Durations have a unit: \`250ms\`, \`1m30s\`; only 0 has none. Some are drawn: \`uniform(1s..5s)\`,
\`exponential(5s)\`, \`lognormal(p50=2s p99=40s)\`, \`one-of(1s|5s)\`. What shapes the run (how many
brokers, when a fault fires) is drawn once for a seed; what belongs to the world (a latency) is
drawn each time. Kafka's own configs stay as Kafka has them: plain numbers of milliseconds.

## When a run ends

Time zero is when the cluster is ready: topics exist, all replicas are in sync. The story lasts as
long as \`duration\` says; without it, until no step can fire any more, what was to end by itself
(\`for\`) has, and every producer with a number of \`records\` is done. Then all faults are healed,
producers without such a number stop, and the cluster has \`settle\` to converge. A step that never
fired, or whose target named no node, makes the run inconclusive.

With \`settle: { time: 60s, core: majority }\` only a core is healed: most of the controllers, at least
half of the brokers, all clients, and the links between them. Which, is drawn, so that every
partition has min.insync.replicas of its replicas there, and one of its ISR or ELR. All else stays for
ever as it is: what is down stays down, what is paused stays paused, and links that are cut stay
cut. Producers go on for half of the time, since the core is to work and not only to agree.`;

function describeSection({ title, keys }: Section): string {
  return `## ${title}\n\n${describeKeys(keys)}`;
}

function describeKeys(keys: KeyTable): string {
  const rows = Object.entries(keys).map(([name, { form, meaning, required }]) => {
    const takes = form.takes.replaceAll("|", "\\|");
    const must = required === true ? "; required" : "";
    return `| \`${name}\` | ${takes}${must} | ${meaning.replaceAll("|", "\\|")} |`;
  });
  return ["| key | takes | |", "|---|---|---|", ...rows].join("\n");
}

function describeSteps(): string {
  return `## faults, each

A step has one fault (see [faults.md](faults.md)), one trigger, and what makes it more precise.

${describeKeys(STEP_KEYS.triggers)}

${describeKeys(STEP_KEYS.modifiers)}`;
}

function describeRandomFaults(): string {
  const rows = Object.entries(SHAPES).map(([name, { scope, meaning }]) => {
    return `| \`${name}\` | ${SCOPES[scope]}${meaning} |`;
  });
  return `## random-faults

Faults that each seed draws, into steps like those of \`faults\`, before anything runs. With \`{}\` all is
as by default. Each seed also draws which kinds there are, how fierce they are, and who may die, so
that no more befalls the cluster than Kafka promises to survive: either processes die and page caches
survive, or of the brokers only \`min.insync.replicas\` - 1 die, and lose their page caches, too.

${describeKeys(RANDOM_FAULTS_KEYS)}

A generator is a fault with what it is told, \`every\`, and perhaps \`for\`:
\`{ crash: any(brokers), every: exponential(20s), for: uniform(1s..15s) }\`; or the bare name of a shape;
or a mapping of these keys.

${describeKeys(GENERATOR_KEYS)}

| shape | |
|---|---|
${rows.join("\n")}`;
}

const SCOPES = {
  always: "",
  named: "Only where it is named. ",
  unlimited: "Only with `unlimited: true`. ",
} as const;

function describeWords(): string {
  const sections: readonly (readonly [title: string, words: Readonly<Record<string, Word>>])[] = [
    ["Sets of nodes", { ...GROUPS, ...RELATIONS, ...NODE_FUNCTIONS }],
    [
      "Numbers and durations",
      { ...PARTITION_QUANTITIES, ...CLIENT_QUANTITIES, ...GROUP_QUANTITIES },
    ],
    ["Conditions", BOOLEAN_FUNCTIONS],
  ];
  const tables = sections.map(([title, words]) => {
    const rows = Object.values(words).map(({ usage, meaning }) => `| \`${usage}\` | ${meaning} |`);
    return `### ${title}\n\n${["| | |", "|---|---|", ...rows].join("\n")}`;
  });
  return `## Targets and conditions

A target is a set of nodes: \`broker-1\`, \`controller-1\`, a client's name, \`$old\` (what a step
bound with \`as: old\`), or a word below; sets join with \`+\`, part with \`-\`, and meet with \`&\`, in
parentheses where need be. It is resolved when its step fires. A minus needs spaces around it, as
names have hyphens.

A partition is \`orders-0\`, all of a topic's are \`orders\`, all there are is \`partitions\`.

A condition compares numbers, durations or sets (\`==\`, \`!=\`, \`<\`, \`<=\`, \`>\`, \`>=\`), with \`+\`,
\`-\`, \`*\` and \`and\`, \`or\`, \`not\`; a set beside a number stands for how many it has.

${tables.join("\n\n")}`;
}

function describeExpectations(): string {
  const rows = EXPECTATION_KINDS.map(
    ({ example, meaning }) => `| \`${example.replaceAll("|", "\\|")}\` | ${meaning} |`,
  );
  const names = GUARANTEE_NAMES.map((name) => `\`${name}\``).join(", ");
  return `## expect, each

The bare name of a guarantee (see [guarantees.md](guarantees.md)): ${names}; or one of these.

${["| | |", "|---|---|", ...rows].join("\n")}`;
}
