import { DiskError } from "../ports/disk.ts";
import type { Node, World } from "../ports/node.ts";
import { RefusedStart } from "../storage/refused-start.ts";

/**
 * Makes the node of one incarnation. If it cannot even be made, because of what its disks do or hold,
 * its process starts and ends at once.
 */
export function startNode(world: World, make: () => Node): Node {
  try {
    return make();
  } catch (problem) {
    if (problem instanceof DiskError || problem instanceof RefusedStart) {
      return new FailedStart(world, problem.message);
    }
    throw problem;
  }
}

class FailedStart implements Node {
  readonly #world: World;
  readonly #reason: string;

  constructor(world: World, reason: string) {
    this.#world = world;
    this.#reason = reason;
  }

  onStart(): void {
    this.#world.process.exit(this.#reason);
  }

  // Nothing reaches a process that has ended.
  onTimer(): void {}
  onConnected(): void {}
  onFrame(): void {}
  onClosed(): void {}
  onSynced(): void {}
  onShutdown(): void {}
}
