// A coding agent that speaks nothing but Anthropic's messages.
import { chmodSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { checkTask } from '../agents/checks.mjs';

const program = join(
  import.meta.dirname,
  `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
);
/** false: there is no binary of the agent for this platform. */
export const hasAgent = existsSync(program);

/**
 * @param all        see `startAll`
 * @param impatient  the same, with a gateway that tries nothing again
 * @param task       see `createTask`
 * @returns checks of one model
 */
export function agentChecks({ all, impatient, task, name }) {
  const bin = join(task.home, 'bin');
  if (!existsSync(bin)) {
    mkdirSync(bin, { recursive: true });
    // The package has the program in a package for each platform.
    chmodSync(program, 0o755);
    symlinkSync(program, join(bin, 'claude'));
  }
  const env = { IS_SANDBOX: '1', DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1', DISABLE_ERROR_REPORTING: '1' };
  const agent = { title: 'claude', bin, env };
  return {
    'reads, edits, runs and answers': () => checkTask({ all, task, name, agent }),
    'an overloaded model and a call that breaks off are asked again by the agent': () =>
      checkTask({
        all: impatient,
        task,
        name,
        agent,
        faults: { read: 'overloaded', edit: 'cut' },
        steps: ['read: overloaded', 'read', 'edit: cut', 'edit', 'run', 'answer'],
      }),
  };
}
