// Tells what many instances need of a store: plays the money of requests with the gateway's own code, in simulated time.
// Takes a few minutes and gives the same numbers each time.
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  crowds,
  crowdsTable,
  fleetsTable,
  plotFleets,
  plotRates,
  rates,
  ratesTable,
  regionTable,
  type ScalingFindings,
} from './scaling/findings.ts';
import { play } from './scaling/simulate.ts';

const { values } = parseArgs({ options: { seed: { type: 'string', default: '7' } } });
const seed = Number(values.seed);
/** A step at a store in the same data centre, and at one in another region. */
const [nearMs, farMs] = [0.5, 80];

const found: ScalingFindings = {
  seed,
  rates: await playRates(rates, nearMs),
  region: await playRates([2, 32, 512], farMs),
  crowds: await playCrowds(),
};
for (const table of [ratesTable(found), fleetsTable(found), crowdsTable(found), regionTable(found)])
  say(`\n${table}\n`);
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
writeFileSync(at('scaling/results.json'), `${JSON.stringify(found, null, 2)}\n`);
writeFileSync(at('../docs/img/scaling-rates.svg'), plotRates(found));
writeFileSync(at('../docs/img/scaling-fleets.svg'), plotFleets(found));

async function playRates(of: readonly number[], stepMs: number) {
  const played: {
    rate: number;
    slices: ScalingFindings['rates'][number]['slices'];
    single: ScalingFindings['rates'][number]['single'];
  }[] = [];
  for (const rate of of) {
    // As long as it takes for some thousand requests.
    const seconds = Math.min(2_000, Math.max(20, 2_000 / rate));
    const one = { instances: 1, rate, seconds, stepMs, seed };
    played.push({ rate, slices: await play({ ...one, escrow: true }), single: await play({ ...one, escrow: false }) });
    say(`${rate} requests per second`);
  }
  return played;
}

async function playCrowds() {
  const played: { instances: number; played: ScalingFindings['crowds'][number]['played'] }[] = [];
  for (const instances of crowds) {
    const [rate, seconds] = [10, 30];
    // Half of the time suffices to spend it.
    const limit = (instances * rate * seconds) / 2;
    played.push({
      instances,
      played: await play({ instances, rate, seconds, stepMs: nearMs, escrow: true, limit, seed }),
    });
    say(`${instances} instances`);
  }
  return played;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
