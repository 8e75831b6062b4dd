import { ROUND } from "../../../src/fuzz/hunt.ts";
import { plantedBugs, SCENARIO } from "./planted-bug.ts";
import type { Row } from "./row.ts";
import type { Search } from "./search.ts";
import type { Shrinkage } from "./shrink-finding.ts";

/** docs/finding-bugs.md. */
export function findingBugsPage(rows: readonly Row[]): string {
  const bugs = plantedBugs().map(({ name }) => name);
  const missing = bugs.filter((bug) => rows.every(({ name }) => name !== bug));
  return `# Finding bugs

<!-- Written by test/support/planted-bugs.ts: npm run planted-bugs -- [CPU seconds a bug] -->

How long a search like \`sim fuzz ${SCENARIO}\` takes, on one core, to name a planted bug: rules that
Kafka once had (\`protocol:\`), and rules of the implementation broken in its source, one at a time
(test/support/mutations). Nothing in the scenario, and nothing in how faults are drawn, knows of any of them.

A bug counts as found when a run breaks the guarantee that should name it (test/support/mutations says which), and has no
failure where nothing is broken. *Guided* is the search as it is, half of it mutants of runs that reached something
new; *plain* goes from seed to seed. Seconds are of CPU. \`not in N\`: none of N runs had named it when the budget in
brackets was spent.

${summary(rows)}

| bug | what is wrong | guided: runs | CPU s | named | plain: runs | CPU s | named |
|---|---|---|---|---|---|---|---|
${rows.map(({ name, breaks, remark, guided, plain }) => `| ${name} | ${breaks}${remark === undefined ? "" : ` (${remark})`} | ${searchCells(guided)} | ${searchCells(plain)} |`).join("\n")}

${missing.length === 0 ? "" : `Not looked for yet: ${missing.join(", ")}.\n\n`}## How small the runs become

The run in which each was first named, shrunk as \`sim shrink\` does. *Same*: what is left is read as a scenario
without a mistake (\`sim check\`), and run twice it fails both times in the same way, with the same digest.

${shrinkSummary(rows)}

| bug | what went wrong | events | left | cut | faults | left | runs | CPU s | same |
|---|---|---|---|---|---|---|---|---|---|
${rows.flatMap(({ name, shrunk }) => (shrunk === undefined ? [] : [`| ${name} | ${shrinkCells(shrunk)} |`])).join("\n")}

What is left is mostly the cluster that forms: some 200 events with one controller, 1,200 and more where it takes three.

${BESIDES}`;
}

/** Told by hand: what came up in searches of the engine as it is. */
const BESIDES = `## What the same search showed where nothing was planted

- Kafka flushes what it cuts from the end of \`leader-epoch-checkpoint\` in the background, as the next start would cut it
  again (\`LeaderEpochFileCache.truncateFromEndAsyncFlush\`). If the log has grown past the stale entry until then, it is not
  cut: a leader's epoch without records comes back, and the replica cuts off what was committed and fetches it again.
- A broker can fetch before it has registered, with no broker epoch (\`BrokerServer.startup\` installs its publishers before
  it waits to be caught up), and so be let into an ISR for what it fetched before its registration (KIP-903):
  isr-grows-by-request calls that a bug.
- A leader that loses its last record to a power cut, and leads on in the same epoch, writes another in its place: nothing
  in epochs or offsets tells the two logs apart, and what is copied behind it stands on both.
- A consumer that has read up to where a new leader does not know yet that all is committed is answered at once, with
  nothing (\`DelayedFetch\`, KAFKA-16452), and asks again at once: thousands of fetches a second, until the high watermark
  has come that far.
- A torn \`.txnindex\` of another version keeps a broker from starting (\`TransactionIndex.sanityCheck\`), so that nothing
  that waits for it ends; chaos.yaml has disks on which no garbage comes to stand in files (\`journal: ordered\`).
`;

/** Cells of the first table. */
export function searchCells({ runs, seconds, named, budget }: Search): string {
  const time = seconds.toFixed(1);
  return named === undefined
    ? `not in ${runs} [${budget}] | ${time} |`
    : `${runs} | ${time} | ${named}`;
}

function shrinkCells({
  kind,
  before,
  after,
  runs,
  seconds,
  isSame,
  isFinished,
}: Shrinkage): string {
  const cut = `${(cutOf({ before, after }) * 100).toFixed(1)} %`;
  const time = `${seconds.toFixed(1)}${isFinished ? "" : ", given up"}`;
  const same = isSame ? "yes" : "NO";
  return `${kind} | ${before.events} | ${after.events} | ${cut} | ${before.faults} | ${after.faults} | ${runs} | ${time} | ${same}`;
}

function cutOf({ before, after }: Pick<Shrinkage, "before" | "after">): number {
  return 1 - after.events / before.events;
}

function summary(rows: readonly Row[]): string {
  const found = rows.filter(({ guided }) => guided.named !== undefined);
  const inPlain = rows.filter(({ plain }) => plain.named !== undefined).length;
  const seconds = median(rows.map(({ guided }) => guided.seconds));
  const slowest = Math.max(...found.map(({ guided }) => guided.seconds));
  const unguided = found.filter(({ guided }) => guided.runs <= ROUND).length;
  const all = plantedBugs().length;
  return `Of ${all} planted bugs ${rows.length} were looked for; ${found.length} of them are found guided and ${inPlain} plain. Guided the median is
${seconds.toFixed(1)} s, the slowest that was found ${slowest.toFixed(1)} s. ${unguided} are found before there is anything to guide, in the first ${ROUND} runs, and
so no sooner than plain. ${guidance(rows)}`;
}

/** What was given up counts with the time it was given. */
function guidance(rows: readonly Row[]): string {
  const fair = rows.filter(
    ({ guided, plain }) => plain.named !== undefined || plain.budget >= guided.seconds,
  );
  const byTime = fair.sort((left, right) => left.guided.seconds - right.guided.seconds);
  const hard = byTime.slice(Math.floor((byTime.length * 2) / 3));
  const ratio = median(hard.map(({ guided, plain }) => plain.seconds / guided.seconds));
  const unfair = rows.length - fair.length;
  const but =
    unfair === 0 ? "" : `, but for ${unfair} that plain had less time for than guided took`;
  const longer = `In the third that is hardest to find${but},
plain takes ${ratio.toFixed(1)} times as long in the median (what was given up counts with the time it was given)`;
  return ratio >= 2
    ? `${longer}.`
    : `${longer}: that guidance makes a search quicker is not shown here.`;
}

function shrinkSummary(rows: readonly Row[]): string {
  const all = rows.flatMap(({ shrunk }) => shrunk ?? []);
  const cut = median(all.map((one) => cutOf(one) * 100));
  const slowest = Math.max(...all.map(({ seconds }) => seconds));
  const different = new Set(all.map(({ kind }) => kind)).size;
  const givenUp = all.filter(({ isFinished }) => !isFinished).length;
  const unfinished = givenUp > 0 ? ` (${givenUp} were given up then, as small as they were)` : "";
  return `${all.length} runs that fail in ${different} ways: in the median ${cut.toFixed(1)} % of the events are cut, in ${median(all.map(({ seconds }) => seconds)).toFixed(1)} s,
${slowest.toFixed(1)} s at most${unfinished}; ${all.filter(({ isSame }) => isSame).length} fail in the same way again.`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
