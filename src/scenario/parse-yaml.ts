import type { Document, Node as YamlLibraryNode } from "yaml";
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, stringify } from "yaml";
import type { Place } from "./place.ts";
import { START_OF_FILE } from "./place.ts";
import type { Reading } from "./reading.ts";
import type { YamlEntry, YamlNode } from "./yaml-node.ts";

/** Larger texts are refused before they are parsed. In UTF-16 units, which is near enough. */
export const SCENARIO_SIZE_LIMIT: number = 1024 * 1024;

/** Nothing in a scenario needs to stand deeper. */
const DEPTH_LIMIT = 32;

/**
 * YAML text as nodes with places: the only door to the package `yaml`. What is no plain YAML 1.2
 * (tabs, two documents, anchors, tags) is complained about once; then there is no result.
 */
export function parseYaml(text: string, reading: Reading): YamlNode | undefined {
  if (text.length > SCENARIO_SIZE_LIMIT) {
    const size = (text.length / 1_048_576).toFixed(1);
    return reading.complain(START_OF_FILE, `the file has ${size} MiB; a scenario may have 1 MiB`);
  }
  const trouble = findUnreadable(text);
  if (trouble !== undefined) {
    return reading.complain(placeOf(text, trouble.offset, trouble.length), trouble.message);
  }
  const lines = new LineCounter();
  // Duplicate keys are found below, with the place of the first.
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    logLevel: "error",
  });
  const source = new Source(text, lines, reading);
  const [error] = document.errors;
  if (error !== undefined) {
    const [start, end] = whereIsTheError(text, error.code, error.message, error.pos);
    return reading.complain(source.place(start, end), yamlMessage(error.code, error.message));
  }
  const complaint = refuseDialect(document);
  if (complaint !== undefined) return reading.complain(START_OF_FILE, complaint);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    return reading.complain(
      START_OF_FILE,
      "the file is empty; a scenario begins with `version: 1`",
    );
  }
  const node = source.convert(contents, source.place(0, 1), 0);
  return source.refused ? undefined : node;
}

/** Plain values as YAML text that `parseYaml` reads as the same again; lines are broken only where they may be. */
export function writeYaml(value: unknown): string {
  // A part that stands in two places is written twice: scenarios have no anchors.
  return stringify(value, { lineWidth: 100, version: "1.2", aliasDuplicateObjects: false });
}

interface Unreadable {
  readonly offset: number;
  readonly length: number;
  readonly message: string;
}

/**
 * What must be refused before the parser sees it: no text at all, and nesting so deep that a
 * parser's stack or patience would end. Brackets are counted without regard to quotes, which at
 * worst refuses a text that no scenario contains.
 */
function findUnreadable(text: string): Unreadable | undefined {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5b || code === 0x7b) {
      depth++;
      if (depth > DEPTH_LIMIT) return tooDeep(i);
    } else if (code === 0x5d || code === 0x7d) {
      if (depth > 0) depth--;
    } else if (isNoText(code)) {
      return { offset: i, length: 1, message: "this is no text file: it has control characters" };
    }
  }
  const ladder = /^[ \t]*(?:[-?:][ \t]+){33}/m.exec(text);
  return ladder === null ? findDeepIndentation(text) : tooDeep(ladder.index);
}

/** The first line that stands within more blocks than are allowed, as indentation tells. */
function findDeepIndentation(text: string): Unreadable | undefined {
  const indents: number[] = [];
  const line = /^([ ]*)[^\s]/gm;
  for (let found = line.exec(text); found !== null; found = line.exec(text)) {
    const indent = found[1]?.length ?? 0;
    while (indents.length > 0 && (indents.at(-1) ?? 0) >= indent) indents.pop();
    indents.push(indent);
    if (indents.length > DEPTH_LIMIT) return tooDeep(found.index + indent);
  }
  return undefined;
}

/** The parser tells where a quote that was never closed should have been; people look for its start. */
function whereIsTheError(
  text: string,
  code: string,
  message: string,
  [start, end]: readonly [number, number],
): readonly [number, number] {
  const quote = /closing (['"])quote/.exec(message)?.[1];
  if (code !== "MISSING_CHAR" || quote === undefined) return [start, end];
  const open = text.lastIndexOf(quote, start - 1);
  return open < 0 ? [start, end] : [open, open + 1];
}

function isNoText(code: number): boolean {
  return (code < 32 && code !== 9 && code !== 10 && code !== 13) || code === 127 || code === 0xfffd;
}

function tooDeep(offset: number): Unreadable {
  return { offset, length: 1, message: `nested deeper than ${DEPTH_LIMIT} levels` };
}

function placeOf(text: string, offset: number, length: number): Place {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - before.lastIndexOf("\n"), length };
}

/** The parser's own words, except where ours are clearer. */
function yamlMessage(code: string, message: string): string {
  if (code === "TAB_AS_INDENT") return "a tab stands where YAML wants spaces";
  if (code === "MISSING_CHAR" && message.includes("quote")) return "this quote is never closed";
  if (code === "MULTIPLE_DOCS") return "a second document begins here; a scenario is one document";
  const [line] = message.split("\n");
  const words = (line ?? message).replace(/ at line \d+, column \d+:?$/, "");
  return `not valid YAML: ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

function refuseDialect(document: Document): string | undefined {
  return document.directives?.yaml.explicit === true && document.directives.yaml.version !== "1.2"
    ? "scenarios are YAML 1.2; leave the %YAML line out"
    : undefined;
}

/** Turns the library's nodes into ours. */
class Source {
  readonly #text: string;
  readonly #lines: LineCounter;
  readonly #reading: Reading;
  /** Something in the text is outside the scenario language; what could be read means nothing. */
  refused = false;

  constructor(text: string, lines: LineCounter, reading: Reading) {
    this.#text = text;
    this.#lines = lines;
    this.#reading = reading;
  }

  /** The part of [start, end) that stands on the line of `start`. */
  place(start: number, end: number): Place {
    const { line, col } = this.#lines.linePos(start);
    const newline = this.#text.indexOf("\n", start);
    const lineEnd = newline < 0 ? this.#text.length : newline;
    const written = this.#text.slice(start, Math.min(end, lineEnd)).trimEnd().length;
    return { line: Math.max(1, line), column: Math.max(1, col), length: Math.max(1, written) };
  }

  /** `around` is the place to name if the node has none: that of its key. */
  convert(node: unknown, around: Place, depth: number): YamlNode | undefined {
    if (node === null || node === undefined) return emptyScalar(around);
    const library = node as YamlLibraryNode;
    const [start, end] = library.range ?? [0, 0];
    const place = end > start ? this.place(start, end) : around;
    if (depth > DEPTH_LIMIT) {
      return this.#refuse(place, `nested deeper than ${DEPTH_LIMIT} levels`);
    }
    if (isAlias(library) || library.anchor !== undefined) {
      return this.#refuse(
        place,
        "anchors and aliases are not part of the scenario language; write the value out",
      );
    }
    if (library.tag !== undefined) {
      return this.#refuse(place, "tags are not part of the scenario language");
    }
    if (isMap(library)) return this.#map(library.items, place, depth);
    if (isSeq(library)) {
      const items: YamlNode[] = [];
      for (const item of library.items) {
        const converted = this.convert(item, place, depth + 1);
        if (converted !== undefined) items.push(converted);
      }
      return { kind: "list", items, place };
    }
    if (!isScalar(library)) return this.#refuse(place, "not a value");
    const { value, source } = library;
    if (value === null) return emptyScalar(place);
    const quoted = library.type === "QUOTE_DOUBLE" || library.type === "QUOTE_SINGLE";
    const text = typeof value === "string" ? value : (source ?? String(value));
    const textStart = start + (quoted ? 1 : 0);
    const literal = this.#text.startsWith(text, textStart) && !text.includes("\n");
    return {
      kind: "scalar",
      value: typeof value === "number" || typeof value === "boolean" ? value : text,
      text,
      quoted,
      place,
      textColumn: literal ? place.column + (quoted ? 1 : 0) : undefined,
    };
  }

  /** Once is enough: a bomb of aliases has thousands. */
  #refuse(place: Place, message: string): undefined {
    if (!this.refused) this.#reading.complain(place, message);
    this.refused = true;
    return undefined;
  }

  #map(
    items: readonly { key: unknown; value: unknown }[],
    place: Place,
    depth: number,
  ): YamlNode | undefined {
    const entries: YamlEntry[] = [];
    const known = new Map<string, Place>();
    for (const { key, value } of items) {
      const name = this.convert(key, place, depth + 1);
      if (name === undefined) continue;
      if (name.kind !== "scalar" || name.value === undefined) {
        this.#reading.complain(name.place, "a key must be a name");
        continue;
      }
      const first = known.get(name.text);
      if (first !== undefined) {
        const message = `the key \`${name.text}\` is given twice; first in line ${first.line}`;
        this.#reading.complain(name.place, message);
        continue;
      }
      known.set(name.text, name.place);
      const converted = this.convert(value, name.place, depth + 1);
      if (converted !== undefined) {
        entries.push({ key: name.text, keyPlace: name.place, value: converted });
      }
    }
    return { kind: "map", entries, place };
  }
}

function emptyScalar(place: Place): YamlNode {
  return {
    kind: "scalar",
    value: undefined,
    text: "",
    quoted: false,
    place,
    textColumn: undefined,
  };
}
