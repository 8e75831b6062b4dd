/**
 * What a member of the quorum must not live with, though no peer and no disk call told it: a log that
 * lacks what it has promised. Kafka's fault handler ends the process.
 */
export class FatalFault extends Error {
  override readonly name = "FatalFault";
}
