import type { Complaint } from "./complaint.ts";
import { complaintAt } from "./complaint.ts";
import type { KnownNames } from "./known-names.ts";
import { nearestName } from "./nearest-name.ts";
import type { Place } from "./place.ts";

/** Nobody reads more; what is beyond is counted. */
const MOST_COMPLAINTS = 100;

/** One reading of one scenario: collects all that is wrong with it, rather than stopping at the first. */
export class Reading {
  readonly file: string;
  readonly complaints: Complaint[] = [];
  readonly warnings: Complaint[] = [];
  /** Complaints beyond the limit, which are only counted. */
  more = 0;
  /** What the scenario has by name; filled while its cluster, topics and clients are read. */
  names: KnownNames;

  constructor(file: string, names: KnownNames) {
    this.file = file;
    this.names = names;
  }

  /** Notes a complaint. Returns undefined, the value of what could not be read. */
  complain(place: Place, message: string, suggestion?: string): undefined {
    if (this.complaints.length >= MOST_COMPLAINTS) {
      this.more++;
      return undefined;
    }
    this.complaints.push(complaintAt(this.file, place, message, suggestion));
    return undefined;
  }

  warn(place: Place, message: string, suggestion?: string): void {
    this.warnings.push(complaintAt(this.file, place, message, suggestion));
  }

  /** Complains that there is no such thing, with the nearest that there is or, if few, all. */
  unknown(place: Place, what: string, found: string, valid: Iterable<string>): undefined {
    return this.#noneOf(place, `unknown ${what} \`${shortened(found)}\``, found, valid);
  }

  /** Complains that a key cannot have this value, with the nearest that it can have. */
  unfit(place: Place, key: string, found: string, valid: Iterable<string>): undefined {
    return this.#noneOf(place, `\`${key}\` cannot be \`${shortened(found)}\``, found, valid);
  }

  #noneOf(place: Place, message: string, found: string, valid: Iterable<string>): undefined {
    if (this.complaints.length >= MOST_COMPLAINTS) return this.complain(place, message);
    const names = [...new Set(valid)];
    const nearest = nearestName(found, names);
    const hint = nearest === undefined ? listed(names) : `; did you mean \`${nearest}\`?`;
    return this.complain(place, `${message}${hint}`, nearest);
  }
}

/** At most so many names are listed when none is near. */
const LISTED = 12;

function listed(names: readonly string[]): string {
  if (names.length === 0) return "; there are none";
  if (names.length > LISTED) return "";
  const all = names.map((name) => `\`${name}\``);
  const last = all.pop() ?? "";
  return all.length === 0 ? `; there is only ${last}` : `; there are ${all.join(", ")} and ${last}`;
}

/** A text from the scenario in a form that fits a message: one line, not too long. */
export function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 60 ? line : `${line.slice(0, 57)}...`;
}
