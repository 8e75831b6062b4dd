import { checkerContenders } from "./checkers.ts";
import { benchCluster, clusterSample, SAMPLE } from "./cluster.ts";
import { diskContenders } from "./disk.ts";
import { benchFuzz, benchFuzzMemory, benchWorkers } from "./fuzz.ts";
import { benchGroups } from "./groups.ts";
import { benchGuarantees } from "./guarantees.ts";
import { bytesPerPendingEvent, kernelDuels } from "./kernel.ts";
import { benchLog } from "./log.ts";
import { fight, formatCost, formatRate, formatTable, measure } from "./measure.ts";
import { networkContenders } from "./network.ts";
import { benchStartup } from "./startup.ts";
import { benchTransactions } from "./transactions.ts";

/**
 * `npm run bench -- parts` measures the parts, `log` logs of three lengths, `cluster` whole clusters,
 * `guarantees` what they cost, `transactions` what those cost, `groups` rebalances, `startup` the command, another word the duels with that word in their title; `--quick` takes one round instead of five.
 */
const isQuick = process.argv.includes("--quick");
const wanted = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? "";
const ROUNDS = isQuick ? 1 : 5;

if (wanted === SAMPLE) console.log(clusterSample(Number(process.argv.at(-1))));
else void printAll();

async function printAll(): Promise<void> {
  console.log(`Node ${process.version}; median [least-most] of ${ROUNDS} rounds in turn`);
  console.log();
  if (wanted === "parts") printParts();
  else if (wanted === "log") printLog();
  else if (wanted === "cluster") printCluster();
  else if (wanted === "guarantees") printGuarantees();
  else if (wanted === "transactions") console.log(benchTransactions(ROUNDS));
  else if (wanted === "groups") console.log(benchGroups(Math.min(ROUNDS, 3)));
  else if (wanted === "startup") printStartup();
  else if (wanted === "fuzz") await printFuzz();
  else if (wanted === "fuzz-memory") console.log(benchFuzzMemory(isQuick ? 1_000 : 10_000));
  else {
    const duels = kernelDuels().filter(({ title }) => title.includes(wanted));
    console.log(fight(duels, ROUNDS));
    if (wanted === "") {
      printMemory();
      console.log();
      printLog();
      console.log();
      printCluster();
      console.log();
      printGuarantees();
      console.log();
      console.log(benchTransactions(ROUNDS));
      console.log();
      console.log(benchGroups(Math.min(ROUNDS, 3)));
      console.log();
      printStartup();
      console.log();
      await printFuzz();
    }
  }
}

function printParts(): void {
  const parts = [...networkContenders(), ...diskContenders(), ...checkerContenders()];
  const rows = measure(parts, ROUNDS).map((it) => [it.name, formatCost(it), formatRate(it)]);
  console.log(formatTable([["", "an operation", "rate"], ...rows]));
}

function printLog(): void {
  console.log(benchLog(Math.min(ROUNDS, 3)));
}

function printCluster(): void {
  console.log(benchCluster("", Math.min(ROUNDS, 3)));
}

function printGuarantees(): void {
  console.log(benchGuarantees(Math.min(ROUNDS, 3)));
}

function printStartup(): void {
  console.log(benchStartup(isQuick ? 3 : 20));
}

async function printFuzz(): Promise<void> {
  console.log(benchFuzz(ROUNDS));
  console.log();
  console.log(await benchWorkers(ROUNDS));
}

function printMemory(): void {
  const { bare, withPayload } = bytesPerPendingEvent();
  console.log();
  console.log(
    `bytes a pending event: ${bare.toFixed(0)}, with a payload object ${withPayload.toFixed(0)}` +
      " (floor 64 and 128, goal 48 and 96)",
  );
}
