// What every agent is checked for.
import { deepEqual, equal, match } from 'node:assert/strict';
import { apiKey } from '../upstreams/gateway.mjs';
import { runBlock } from './run-block.mjs';
import { farewell } from './task.mjs';

/**
 * Runs an agent once, as docs/coding-agents.md says, and looks at what it has done and at what the model was asked for.
 * @param all     see `startAll`
 * @param faults  see `startUpstream`
 * @param steps   what the model should be asked for, without asides
 */
export async function checkTask({ all, task, name, agent, faults = {}, steps = ['read', 'edit', 'run', 'answer'] }) {
  const upstream = all.upstreams[name];
  upstream.begin(faults);
  const ticket = task.begin();
  const { code, output } = await runBlock({ ...agent, root: all.root, apiKey, name, task });
  try {
    equal(code, 0, output);
    deepEqual(task.outcome(), task.expected(ticket));
    match(output.replaceAll(/\s+/g, ' '), new RegExp(farewell(ticket)));
    deepEqual(
      upstream.steps.filter((step) => step !== 'aside'),
      steps,
    );
    // An agent may send no thoughts back: docs/coding-agents.md then says so.
    const isExcused = (problem) => agent.forgets === true && problem.includes('a thought is missing');
    deepEqual(
      upstream.problems.filter((problem) => !isExcused(problem)),
      [],
    );
  } catch (error) {
    error.stack += `\nThe model was asked for: ${upstream.steps.join(', ')}\n${upstream.problems.join('\n')}\n${output.slice(-3000)}`;
    throw error;
  }
}
