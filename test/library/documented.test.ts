import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/library.md", "utf8");
const EXAMPLE = /<!-- (test\/library\/[a-z-]+\.test\.ts) -->\n\n```ts\n.*?```/gs;

// To renew: npx vitest run test/library/documented.test.ts --update
test("the examples of docs/library.md are tests of this suite, letter by letter", async () => {
  const renewed = page.replace(EXAMPLE, (_, file: string) => {
    return `<!-- ${file} -->\n\n\`\`\`ts\n${readFileSync(file, "utf8")}\`\`\``;
  });

  expect([...page.matchAll(EXAMPLE)]).toHaveLength(3);
  await expect(renewed).toMatchFileSnapshot("../../docs/library.md");
});
