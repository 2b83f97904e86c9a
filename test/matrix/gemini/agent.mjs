// A coding agent that speaks nothing but Google's generateContent.
import { deepEqual, match, notEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { checkTask } from '../agents/checks.mjs';
import { runBlock } from '../agents/run-block.mjs';

const agent = {
  title: 'Gemini CLI',
  bin: join(import.meta.dirname, 'node_modules/.bin'),
  env: { GEMINI_TELEMETRY_ENABLED: 'false', NO_BROWSER: '1' },
};
/** @returns checks of one model; see `startAll` and `createTask` */
export function agentChecks({ all, task, name }) {
  return {
    'reads, edits, runs and answers': () => checkTask({ all, task, name, agent }),
    'an overloaded model is asked again by the gateway, and a call that breaks off by the agent': () =>
      checkTask({
        all,
        task,
        name,
        agent,
        faults: { read: 'overloaded', edit: 'cut' },
        steps: ['read: overloaded', 'read', 'edit: cut', 'edit', 'run', 'answer'],
      }),
  };
}

/** @returns a check that is of no one model; see `startAll` and `createTask` */
export function spentCheck({ all, task }) {
  return {
    async 'a spent budget ends it at once, with the words of the gateway'() {
      all.failures.length = 0;
      const { code, output } = await runBlock({ ...agent, root: all.root, apiKey: all.spentKey, name: 'chat', task });
      notEqual(code, 0, output);
      match(output, /does not cover/);
      deepEqual(all.failures, [402]);
    },
  };
}
