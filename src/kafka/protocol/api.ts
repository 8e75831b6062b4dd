/**
 * The APIs that nodes speak, each at the one version spoken here: the newest of Kafka 4.3.
 * Simplified: no ApiVersions negotiation, since all nodes of a run are of one release.
 */
export interface Api<Request, Response> {
  readonly key: number;
  readonly version: number;
  readonly name: string;
  /** Bytes that a request or response takes on the wire: length prefix, header and body. */
  requestSize(body: Request): number;
  responseSize(body: Response): number;
}

/** An API whose types the caller does not care about. */
export interface AnyApi {
  readonly key: number;
  readonly version: number;
  readonly name: string;
}
