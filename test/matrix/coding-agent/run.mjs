// A real coding agent that speaks nothing but Responses does whole tasks behind the packed gateway, over a model that
// speaks chat completions and over one that speaks Responses.
import { deepEqual, equal, match } from 'node:assert/strict';
import process from 'node:process';
import { finish, runChecks } from '../clients/check.mjs';
import { agentVersion, startAgent } from './agent.mjs';
import { startGateway } from './gateway.mjs';
import { closedFile, farewell, filesOf, prompt } from './task.mjs';
import { startUpstream } from './upstream.mjs';

if (agentVersion === null) {
  process.stdout.write(`SKIPPED: the agent has no binary for ${process.platform}-${process.arch}\n`);
  process.stdout.write('# coding-agent: 0 passed, 0 failed, 1 skipped\n');
  process.exit(0);
}
/** Each task has a number that no other has. */
let tickets = 48_151;
for (const dialect of ['chat', 'responses']) await runChecks(`${agentVersion} over ${dialect}`, checks(dialect));
finish('coding-agent');

function checks(dialect) {
  return {
    'reads, edits and answers with functions': () => checkTask(dialect, { model: 'acme/coder' }),
    'reads, edits and answers with a custom tool': () => checkTask(dialect, { model: 'acme/gpt-5.5' }),
    'reads, edits and answers with programs': () => checkTask(dialect, { model: 'acme/gpt-6.1-sol' }),
    'its own provider, moved to the gateway': () => checkTask(dialect, { model: 'gpt-5.5', isMoved: true }),
    'its own provider, with the newest model': () => checkTask(dialect, { model: 'gpt-6.1-sol', isMoved: true }),

    async 'a 429 of the provider is waited for by the gateway'() {
      await checkTask(dialect, { faults: { edit: 'limited' }, steps: ['read', 'edit: limited', 'edit', 'answer'] });
    },
    async 'a 429 of the gateway is waited for by the agent'() {
      const problems = await checkTask(dialect, {
        faults: { edit: 'limited' },
        steps: ['read', 'edit: limited', 'edit', 'answer'],
        options: { retry: { attemptsPerEndpoint: 1 } },
        problems: 1,
      });
      match(problems[0], /429/);
    },
    async 'a call that breaks off is asked for again'() {
      await checkTask(dialect, {
        faults: { edit: 'cut' },
        steps: ['read', 'edit: cut', 'edit', 'answer'],
        problems: 1,
      });
    },
    async 'an answer that breaks off is asked for again'() {
      const steps = ['read', 'edit', 'answer: cut', 'answer'];
      await checkTask(dialect, { faults: { answer: 'cut' }, steps, problems: 1 });
    },

    async 'a long conversation is compacted by the agent'() {
      await checkTask(dialect, {
        faults: { read: 'long' },
        steps: ['read: long', 'compact', 'edit', 'answer'],
        settings: { model_auto_compact_token_limit: 100_000 },
      });
    },
    async 'a long conversation is compacted for the agent'() {
      await checkTask(dialect, {
        model: 'gpt-5.5',
        isMoved: true,
        faults: { read: 'long' },
        steps: ['read: long', dialect === 'chat' ? 'compact' : 'compact to an item', 'edit', 'answer'],
        settings: { model_auto_compact_token_limit: 100_000 },
      });
    },
    async 'a full context is known as such: the agent compacts, and goes on'() {
      await withAgent(dialect, { faults: { edit: 'full' } }, async ({ agent, upstream, ticket }) => {
        const first = await agent.run(prompt);
        equal(first.code, 1, first.transcript);
        match(first.problems[0], /ran out of room in the model's context window/);
        await checkDone(await agent.run('Go on.'), { agent, ticket });
        deepEqual(upstream.steps, ['read', 'edit: full', 'compact', 'edit', 'answer']);
      });
    },
  };
}

/**
 * The whole task, in one run of the agent.
 * @param steps     what the model is asked for
 * @param problems  how many the agent tells of
 * @returns what these were
 */
async function checkTask(dialect, { steps = ['read', 'edit', 'answer'], problems = 0, ...setup }) {
  return withAgent(dialect, setup, async ({ agent, upstream, ticket }) => {
    const outcome = await agent.run(prompt);
    await checkDone(outcome, { agent, ticket });
    deepEqual(upstream.steps, steps);
    equal(outcome.problems.length, problems, outcome.problems.join('\n'));
    return outcome.problems;
  });
}

async function checkDone({ code, last, transcript }, { agent, ticket }) {
  equal(code, 0, transcript);
  equal(agent.read('notes.txt'), closedFile(ticket));
  equal(last, farewell(ticket));
}

async function withAgent(dialect, { model = 'acme/coder', isMoved, settings, faults, options }, use) {
  const ticket = tickets++;
  const upstream = await startUpstream({ dialect, faults });
  const gateway = await startGateway({ dialect, baseUrl: upstream.baseUrl }, options);
  const agent = startAgent({ ...gateway, model, isMoved, settings, files: filesOf(ticket) });
  try {
    const result = await use({ agent, upstream, gateway, ticket });
    deepEqual(upstream.problems, []);
    return result;
  } catch (error) {
    error.stack += `\nThe model was asked for: ${upstream.steps.join(', ')}\n${upstream.problems.join('\n')}`;
    throw error;
  } finally {
    agent.remove();
    await gateway.close();
    upstream.close();
  }
}
