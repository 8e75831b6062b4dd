import type { FaultKind } from "./fault-kind.ts";
import { complainAboutLinks, LINK_PARAMETERS, LinkFault, linksOf } from "./links.ts";

/** Every message on some links takes longer, by a time that is drawn for each; their order is kept. */
export const DELAY_LINK: FaultKind = {
  name: "delay-link",
  meaning: "Adds latency to links. With `for` it ends.",
  subject: { name: "delay-link", type: "latency", meaning: "How much longer messages take." },
  parameters: LINK_PARAMETERS,
  heals: true,
  lasts: true,
  complain: complainAboutLinks,
  prepare: (told) => {
    const extra = told.latency("delay-link");
    const { links, text } = linksOf(told);
    return new LinkFault(
      `${text}, ${told.text("delay-link")} more`,
      links,
      ({ hands }, [from, to]) => hands.delay(from, to, extra),
    );
  },
};
