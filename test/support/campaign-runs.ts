/** How many runs a property gets: `long` in a campaign (`npm run campaign`), else `short`. */
export function runsOf<Runs = number>(short: Runs, long: Runs): Runs {
  return process.env["CAMPAIGN"] === undefined ? short : long;
}
