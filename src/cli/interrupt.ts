/** Hears Ctrl-C, so that a run can end with what it has; a second Ctrl-C ends the process as usual. */
export class Interrupt {
  #happened = false;
  readonly #note = (): void => {
    this.#happened = true;
  };

  constructor() {
    process.once("SIGINT", this.#note);
  }

  get happened(): boolean {
    return this.#happened;
  }

  /** From now on Ctrl-C is not heard any more. */
  release(): void {
    process.removeListener("SIGINT", this.#note);
  }
}
