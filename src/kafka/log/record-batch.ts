// Placeholder declaration of the shape that others build on; the log's author replaces this file.
export interface RecordBatchShape {
  readonly bytes: Uint8Array;
}
