import { loadBuilt } from '../built.ts';
import { answerParent, measuring } from '../control.ts';
import { type Scenario, type Summary, simulate, summarise } from './simulate.ts';
import type { Strategy } from './strategies.ts';
import { hedges, strategies } from './strategies.ts';

/** One strategy at a time, in a process of its own. */

export interface SimulationQuestion {
  part: 'strategies' | 'hedge';
  name: string;
  scenario: Scenario;
}

const parts: Record<SimulationQuestion['part'], Record<string, Strategy>> = { strategies, hedge: hedges };
const { createGateway } = await loadBuilt();

answerParent({
  ...measuring,
  port: () => 0,
  async simulate({ part, name, scenario }: SimulationQuestion): Promise<Summary> {
    return summarise(await simulate(createGateway, scenario, parts[part][name] as Strategy));
  },
});
