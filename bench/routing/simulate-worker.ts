import { loadBuilt } from '../built.ts';
import { measuring, serveParent } from '../control.ts';
import { type Scenario, type Summary, simulate, summarise } from './simulate.ts';
import type { Strategy } from './strategies.ts';
import { hedges, strategies } from './strategies.ts';

/** Simulates one strategy at a time, in a separate process. */

export interface SimulationQuestion {
  part: 'strategies' | 'hedge';
  name: string;
  scenario: Scenario;
}

const parts: Record<SimulationQuestion['part'], Record<string, Strategy>> = { strategies, hedge: hedges };
const { createGateway } = await loadBuilt();

serveParent({
  ...measuring,
  port: () => 0,
  async simulate({ part, name, scenario }: SimulationQuestion): Promise<Summary> {
    return summarise(await simulate(createGateway, scenario, parts[part][name] as Strategy));
  },
});
