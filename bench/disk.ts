import { SECOND } from "../src/base/time.ts";
import { SimulatedDisk } from "../src/disk/simulated-disk.ts";
import type { DiskFile } from "../src/ports/disk.ts";
import { Rng } from "../src/sim/rng.ts";
import { Scheduler } from "../src/sim/scheduler.ts";
import type { Contender, Outcome } from "./measure.ts";
import { timed } from "./measure.ts";

const FILES = 3;
const APPENDS = 1_000_000;
/** A batch of one record of 100 bytes. */
const BATCH = new Uint8Array(170).fill(7);
const INDEX_ENTRY = new Uint8Array(8).fill(7);

/** Writes to the simulated disk, and the bare copy that none can do without. */
export function diskContenders(): Contender[] {
  return [
    { name: "disk: append of 170 bytes", run: () => append(BATCH) },
    { name: "disk: append of 170 bytes, shared", run: () => appendShared(1) },
    { name: "disk: append of 170 bytes, shared, of 10 logs in turn", run: () => appendShared(10) },
    { name: "disk: append of 8 bytes", run: () => append(INDEX_ENTRY) },
    { name: "copy of 170 bytes into fresh chunks", run: () => copy(BATCH) },
  ];
}

function append(bytes: Uint8Array): Outcome {
  const disk = newDisk();
  const files = Array.from({ length: FILES }, (_, i) => disk.open(`orders-${i}/log`));
  return timed(FILES * APPENDS, () => {
    for (let i = 0, at = 0; i < APPENDS; i++, at += bytes.length) {
      for (const file of files) file.write(at, bytes);
    }
  });
}

/** Batches lie in slabs, one behind the other, of one log or of several in turn. */
function appendShared(logs: number): Outcome {
  const disk = newDisk();
  const files = Array.from({ length: FILES * logs }, (_, i) => disk.open(`orders-${i}/log`));
  const ends = files.map(() => 0);
  const size = BATCH.length;
  let slab = new Uint8Array(262_144);
  let used = 0;
  return timed(FILES * APPENDS, () => {
    for (let i = 0; i < APPENDS; i++) {
      if (used + size > slab.length) {
        slab = new Uint8Array(262_144);
        used = 0;
      }
      for (let replica = 0; replica < FILES; replica++) {
        const file = (i % logs) * FILES + replica;
        const at = ends[file] as number;
        (files[file] as DiskFile).writeShared(at, slab, used, used + size);
        ends[file] = at + size;
      }
      used += size;
    }
  });
}

function copy(bytes: Uint8Array): Outcome {
  const chunks: Uint8Array[] = [];
  const perChunk = Math.floor(65_536 / bytes.length);
  return timed(FILES * APPENDS, () => {
    for (let left = FILES * APPENDS; left > 0; left -= perChunk) {
      const chunk = new Uint8Array(65_536);
      for (let i = 0; i < perChunk; i++) chunk.set(bytes, i * bytes.length);
      chunks.push(chunk);
    }
  });
}

function newDisk(): SimulatedDisk {
  const scheduler = new Scheduler();
  const always = (duration: number) => ({ draw: () => duration });
  return new SimulatedDisk({
    host: { name: "broker-1", incarnation: 0, charge() {}, departure: () => 0, synced() {} },
    scheduler,
    random: new Rng("bench"),
    options: {
      write: always(5),
      read: always(5),
      fsync: always(2_000),
      bandwidth: 250_000_000,
      writeback: 30 * SECOND,
      sector: 512,
      journal: "writeback",
    },
    facts: { note() {} },
  });
}
