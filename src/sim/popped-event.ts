/** The event that a queue popped last: one object for the whole run, so that a pop allocates nothing. */
export class PoppedEvent {
  time: number = Number.NaN;
  kind = 0;
  subject = 0;
  payload: unknown = undefined;
}
