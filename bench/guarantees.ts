import type { Load } from "./cluster.ts";
import { advance, clusterFor, LOADS, warmUp } from "./cluster.ts";
import { collectGarbage, formatTable, threadTime } from "./measure.ts";

/**
 * What share of a run's time all guarantees take, at most: 30 %. The same cluster with and without them, in one
 * process, slice after slice in turn, so that what slows the machine slows both.
 */
export function benchGuarantees(rounds: number): string {
  const heading = [`guarantees on against off; ${rounds} rounds`, "on", "off", "share", "at most"];
  const rows = LOADS.filter(({ guarantees }) => guarantees).map((load) => {
    const shares: number[] = [];
    let costOn = 0;
    let costOff = 0;
    for (let round = 0; round < rounds; round++) {
      const { on, off } = both(load);
      costOn += on;
      costOff += off;
      shares.push((on - off) / on);
    }
    shares.sort((left, right) => left - right);
    const share = shares[shares.length >> 1] ?? 0;
    const speed = (cost: number): string => ((load.seconds * rounds * 1e9) / cost).toFixed(0);
    return [
      load.title,
      `${speed(costOn)} s/s`,
      `${speed(costOff)} s/s`,
      `${percent(share)} [${percent(shares[0] ?? 0)}-${percent(shares.at(-1) ?? 0)}]`,
      `${percent(MOST)}${share > MOST ? " MISSED" : ""}`,
    ];
  });
  return formatTable([heading, ...rows]);
}

/** Nanoseconds of the main thread. */
function both(load: Load): { readonly on: number; readonly off: number } {
  collectGarbage();
  const watched = clusterFor(load);
  const unwatched = clusterFor({ ...load, guarantees: false });
  warmUp(watched, load);
  warmUp(unwatched, load);
  let on = 0;
  let off = 0;
  for (let slice = 0; slice < SLICES; slice++) {
    const begin = threadTime();
    advance(watched, load.seconds / SLICES);
    const between = threadTime();
    advance(unwatched, load.seconds / SLICES);
    on += between - begin;
    off += threadTime() - between;
  }
  return { on, off };
}

const MOST = 0.3;
const SLICES = 50;

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
