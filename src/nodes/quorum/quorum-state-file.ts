import type { ElectionState } from "../../kafka/quorum/election-state.ts";
import { formatElection, NO_ELECTION, parseElection } from "../../kafka/quorum/election-state.ts";
import type { Uuid } from "../../kafka/uuid.ts";
import type { Disk } from "../../ports/disk.ts";
import { DiskError } from "../../ports/disk.ts";
import { readText, replaceFile } from "../../storage/text-file.ts";

/**
 * The `quorum-state` file. Replaced whole and synced, file and directory, before `write` returns: a
 * vote that is told to anyone survives a loss of power (Kafka's `FileQuorumStateStore`).
 */
export class QuorumStateFile {
  readonly #disk: Disk;
  readonly #path: string;
  #written: ElectionState = NO_ELECTION;

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#path = `${directory}/quorum-state`;
  }

  /** What the file says, or that nothing happened yet. Throws `DiskError` if it makes no sense. */
  read(): ElectionState {
    const text = readText(this.#disk, this.#path);
    if (text === undefined) return NO_ELECTION;
    const election = parseElection(text);
    if (election === undefined) throw new DiskError("EIO", this.#path);
    this.#written = election;
    return election;
  }

  write(election: ElectionState, votedDirectoryId: Uuid): void {
    const before = this.#written;
    if (
      election.leaderId === before.leaderId &&
      election.leaderEpoch === before.leaderEpoch &&
      election.votedId === before.votedId
    ) {
      return;
    }
    replaceFile(this.#disk, this.#path, formatElection(election, votedDirectoryId));
    this.#written = election;
  }
}
