// A real coding agent that speaks nothing but Responses does whole tasks behind the packed gateway, over models that speak
// chat completions, Responses, Anthropic's messages and Google's generateContent.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import process from 'node:process';
import { finish, runChecks } from '../clients/check.mjs';
import { startUpstream } from '../upstreams/start.mjs';
import { agentVersion, program, startAgent } from './agent.mjs';
import { startGateway } from './gateway.mjs';
import { runPageChecks } from './page.mjs';
import { answerTo, closedFile, farewell, filesOf, isThought, prompt } from './task.mjs';

if (agentVersion === null) {
  process.stdout.write(`SKIPPED: the agent has no binary for ${process.platform}-${process.arch}\n`);
  process.stdout.write('# coding-agent: 0 passed, 0 failed, 1 skipped\n');
  process.exit(0);
}
/** Each task has a number that no other has. */
let tickets = 48_151;
// By HTTP, what is done with the upstream is the same: the two older wires show that.
for (const dialect of ['chat', 'responses', 'anthropic', 'google'])
  for (const isSocket of dialect === 'chat' || dialect === 'responses' ? [false, true] : [true])
    await runChecks(
      `${agentVersion} ${isSocket ? 'on a WebSocket' : 'by HTTP'} over ${dialect}`,
      checks({ dialect, isSocket }),
    );
await runPageChecks(program);
finish('coding-agent');

function checks(way) {
  const { dialect, isSocket } = way;
  // On a WebSocket, the agent says nothing of the first time that it asks again.
  const problems = isSocket ? 0 : 1;
  return {
    'reads, edits and answers with functions': () => checkTask(way, { model: 'acme/coder' }),
    'reads, edits and answers with a custom tool': () => checkTask(way, { model: 'acme/gpt-5.5' }),
    'reads, edits and answers with programs': () => checkTask(way, { model: 'acme/gpt-6.1-sol' }),
    'its own provider, moved to the gateway': () => checkTask(way, { model: 'gpt-5.5', isMoved: true }),
    'its own provider, with the newest model': () => checkTask(way, { model: 'gpt-6.1-sol', isMoved: true }),

    async 'a 429 of the provider is waited for by the gateway'() {
      await checkTask(way, { faults: { edit: 'limited' }, steps: ['read', 'edit: limited', 'edit', 'answer'] });
    },
    async 'a 429 of the gateway is waited for by the agent'() {
      const told = await checkTask(way, {
        faults: { edit: 'limited' },
        steps: ['read', 'edit: limited', 'edit', 'answer'],
        options: { retry: { attemptsPerEndpoint: 1 } },
        problems,
      });
      if (!isSocket) match(told[0], /429/);
    },
    async 'a call that breaks off is asked for again'() {
      await checkTask(way, {
        faults: { edit: 'cut' },
        steps: ['read', 'edit: cut', 'edit', 'answer'],
        problems,
      });
    },
    async 'an answer that breaks off is asked for again'() {
      const steps = ['read', 'edit', 'answer: cut', 'answer'];
      await checkTask(way, { faults: { answer: 'cut' }, steps, problems });
    },

    async 'a long conversation is compacted by the agent'() {
      await checkTask(way, {
        faults: { read: 'long' },
        steps: ['read: long', 'compact', 'edit', 'answer'],
        settings: { model_auto_compact_token_limit: 100_000 },
      });
    },
    async 'a long conversation is compacted for the agent'() {
      await checkTask(way, {
        model: 'gpt-5.5',
        isMoved: true,
        faults: { read: 'long' },
        steps: ['read: long', dialect === 'responses' ? 'compact to an item' : 'compact', 'edit', 'answer'],
        settings: { model_auto_compact_token_limit: 100_000 },
      });
    },
    async 'a full context is known as such: the agent compacts, and goes on'() {
      await withAgent(way, { faults: { edit: 'full' } }, async ({ agent, upstream, ticket }) => {
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
async function checkTask(way, { steps = ['read', 'edit', 'answer'], problems = 0, ...setup }) {
  return withAgent(way, setup, async ({ agent, upstream, ticket }) => {
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

async function withAgent({ dialect, isSocket }, { model = 'acme/coder', isMoved, settings, faults, options }, use) {
  const ticket = tickets++;
  const upstream = await startUpstream({ dialect, answerTo, isThought, faults });
  const gateway = await startGateway(upstream, options);
  const agent = startAgent({ ...gateway, model, isMoved, isSocket, settings, files: filesOf(ticket) });
  try {
    const result = await use({ agent, upstream, gateway, ticket });
    deepEqual(upstream.problems, []);
    if (isSocket) ok(gateway.sockets() > 0, 'the agent has opened no WebSocket');
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
