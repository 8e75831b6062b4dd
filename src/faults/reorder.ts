import type { FaultKind } from "./fault-kind.ts";
import { complainAboutLinks, LINK_PARAMETERS, LinkFault, linksOf } from "./links.ts";

/**
 * Single messages are overtaken by later ones, as TCP would never let them.
 */
export const REORDER: FaultKind = {
  name: "reorder",
  meaning: "Lets later messages overtake single ones. With `for` it ends.",
  subject: {
    name: "reorder",
    type: "probability",
    meaning: "The probability with which a message is overtaken.",
  },
  parameters: LINK_PARAMETERS,
  heals: true,
  lasts: true,
  complain: complainAboutLinks,
  prepare: (told) => {
    const reorder = told.probability("reorder");
    const { links, text } = linksOf(told);
    const share = told.text("reorder");
    return new LinkFault(
      `${text}, ${share} of messages overtaken`,
      links,
      ({ hands }, [from, to]) => hands.disturb(from, to, { reorder }),
    );
  },
};
