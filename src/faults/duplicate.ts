import type { FaultKind } from "./fault-kind.ts";
import { complainAboutLinks, LINK_PARAMETERS, LinkFault, linksOf } from "./links.ts";

/**
 * Single messages arrive twice, as TCP would never let them.
 */
export const DUPLICATE: FaultKind = {
  name: "duplicate",
  meaning: "Delivers single messages twice. With `for` it ends.",
  subject: {
    name: "duplicate",
    type: "probability",
    meaning: "The probability with which a message is doubled.",
  },
  parameters: LINK_PARAMETERS,
  heals: true,
  lasts: true,
  complain: complainAboutLinks,
  prepare: (told) => {
    const duplicate = told.probability("duplicate");
    const { links, text } = linksOf(told);
    const share = told.text("duplicate");
    return new LinkFault(`${text}, ${share} of messages doubled`, links, ({ hands }, [from, to]) =>
      hands.disturb(from, to, { duplicate }),
    );
  },
};
