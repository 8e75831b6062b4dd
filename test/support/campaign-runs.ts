/** How many runs a property gets: `long` in a campaign (`npm run campaign`), else `short`. */
export function runsOf(short: number, long: number): number {
  return process.env["CAMPAIGN"] === undefined ? short : long;
}
