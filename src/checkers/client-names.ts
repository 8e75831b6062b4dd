import type { CheckSetup } from "./check-setup.ts";

/** Clients by the address in their payloads. */
export class ClientNames {
  readonly #names: string[] = [];

  constructor(setup: CheckSetup) {
    for (const [name, { address }] of setup.clients) this.#names[address] = name;
  }

  /** Empty if no client has it. */
  of(address: number): string {
    return address < 0 ? "" : (this.#names[address] ?? "");
  }
}
