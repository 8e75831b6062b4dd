/** The parts of an expression. */
export interface Token {
  readonly kind: "name" | "number" | "duration" | "binding" | "symbol" | "end";
  readonly text: string;
  /** Where it stands in the expression's text. */
  readonly start: number;
}

/**
 * A name may hold hyphens and dots (`orders-0`, `broker-1`), so a minus stands apart:
 * `isr(orders-0) - broker-1`. A name may begin with a digit, unless it is a number or a duration.
 */
const TOKEN =
  /\s*(?:([0-9]+(?:[.][0-9]+)?(?![\w.-]))|((?:[0-9]+(?:[.][0-9]+)?(?:us|ms|s|m|h))+(?![\w.-]))|([A-Za-z0-9_][\w.-]*)|(\$[\w.-]+)|(->|==|!=|<=|>=|[<>()+\-*&,|]))/y;

/** Splits a text; the offset of the first character that fits nowhere comes back instead of the tokens. */
export function tokenize(text: string): readonly Token[] | number {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  let at = 0;
  while (text.slice(at).trim() !== "") {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return at + text.slice(at).search(/\S/);
    const [all, number, duration, name, binding, symbol] = found;
    const word = number ?? duration ?? name ?? binding ?? symbol ?? "";
    const kind =
      number !== undefined
        ? "number"
        : duration !== undefined
          ? "duration"
          : name !== undefined
            ? "name"
            : binding !== undefined
              ? "binding"
              : "symbol";
    tokens.push({ kind, text: word, start: at + all.length - word.length });
    at = pattern.lastIndex;
  }
  tokens.push({ kind: "end", text: "the end", start: text.trimEnd().length });
  return tokens;
}
