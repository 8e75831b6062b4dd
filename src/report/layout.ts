/** Columns of a terminal that nobody has widened. Never asked of the terminal: output is the same everywhere. */
export const WIDTH = 80;

/** A text broken at blanks to fit, each line indented. */
export function wrapped(text: string, indent: number): string[] {
  return flowed((" ".repeat(indent) + text.trimStart()).split(/(?<=\S) /), " ", indent);
}

/**
 * Parts on one line, with a separator between them. A part that does not fit begins another, which is
 * indented.
 */
export function flowed(parts: readonly string[], separator: string, indent: number): string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const part of parts) {
    if (line === undefined) {
      line = part;
    } else if (line.length + separator.length + part.length > WIDTH) {
      lines.push(line);
      line = " ".repeat(indent) + part.trimStart();
    } else {
      line += separator + part;
    }
  }
  if (line !== undefined) lines.push(line);
  return lines;
}

/** Left-aligned columns, two spaces apart, indented by two. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd(),
  );
}

/** `1 broker`, `3 brokers`. */
export function counted(count: number, word: string): string {
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}
