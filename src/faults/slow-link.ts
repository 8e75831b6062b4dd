import type { FaultKind } from "./fault-kind.ts";
import { complainAboutLinks, LINK_PARAMETERS, LinkFault, linksOf } from "./links.ts";

/** Some links carry fewer bytes a second: large batches block what stands behind them. */
export const SLOW_LINK: FaultKind = {
  name: "slow-link",
  meaning: "Limits the bandwidth of links. With `for` it ends.",
  subject: { name: "slow-link", type: "bandwidth", meaning: "What is left of the bandwidth." },
  parameters: LINK_PARAMETERS,
  heals: true,
  lasts: true,
  complain: complainAboutLinks,
  prepare: (told) => {
    const bytesPerSecond = told.number("slow-link");
    const { links, text } = linksOf(told);
    return new LinkFault(`${text}, ${told.text("slow-link")}`, links, ({ hands }, [from, to]) =>
      hands.slowLink(from, to, bytesPerSecond),
    );
  },
};
