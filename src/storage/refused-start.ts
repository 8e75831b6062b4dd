/**
 * What a process finds on its disks with which Kafka does not start: not an I/O error, which would
 * cost it one log directory, but a state that nobody can have meant.
 */
export class RefusedStart extends Error {
  override readonly name = "RefusedStart";
}
