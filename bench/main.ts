import { bytesPerPendingEvent, kernelDuels } from "./kernel.ts";
import { fight } from "./measure.ts";

const ROUNDS = 5;

/** `npm run bench -- timers` runs the duels with that word in their title. */
const wanted = process.argv[2] ?? "";

console.log(`Node ${process.version}; median [least-most] of ${ROUNDS} rounds in turn`);
console.log();
console.log(
  fight(
    kernelDuels().filter(({ title }) => title.includes(wanted)),
    ROUNDS,
  ),
);
if (wanted === "") {
  const { bare, withPayload } = bytesPerPendingEvent();
  console.log();
  console.log(
    `bytes a pending event: ${bare.toFixed(0)}, with a payload object ${withPayload.toFixed(0)}` +
      " (floor 64 and 128, goal 48 and 96)",
  );
}
