import type { FaultKind } from "./fault-kind.ts";
import { complainAboutLinks, LINK_PARAMETERS, LinkFault, linksOf } from "./links.ts";

/**
 * Single messages vanish, as TCP would never let them: the connection does not notice. It shows what a
 * protocol leans on.
 */
export const DROP: FaultKind = {
  name: "drop",
  meaning: "Loses single messages. With `for` it ends.",
  subject: {
    name: "drop",
    type: "probability",
    meaning: "The probability with which a message vanishes.",
  },
  parameters: LINK_PARAMETERS,
  heals: true,
  lasts: true,
  complain: complainAboutLinks,
  prepare: (told) => {
    const drop = told.probability("drop");
    const { links, text } = linksOf(told);
    const share = told.text("drop");
    return new LinkFault(`${text}, ${share} of messages lost`, links, ({ hands }, [from, to]) =>
      hands.disturb(from, to, { drop }),
    );
  },
};
