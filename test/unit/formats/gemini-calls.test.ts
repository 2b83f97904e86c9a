import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askOfGemini } from '../../../src/formats/gemini/request/index.ts';
import type { GeminiRequest } from '../../../src/schema/gemini/request.ts';
import { runs } from '../../support/runs.ts';

interface Named {
  name: string;
  id?: string;
}
interface Turn {
  calls: Named[];
  responses: Named[];
}

// Few names and ids, so that they are often the same.
const named = fc.record(
  { name: fc.constantFrom('f', 'g'), id: fc.constantFrom('', 'a', 'b', 'call_1', 'call_2') },
  { requiredKeys: ['name'] },
);
const turn = fc.record({
  calls: fc.array(named, { minLength: 1, maxLength: 5 }),
  responses: fc.array(named, { minLength: 1, maxLength: 6 }),
});

function requestOf(turns: readonly Turn[]): GeminiRequest {
  const contents = turns.flatMap(({ calls, responses }) => [
    { role: 'model', parts: calls.map((functionCall) => ({ functionCall })) },
    { role: 'user', parts: responses.map((functionResponse) => ({ functionResponse })) },
  ]);
  return { contents } as unknown as GeminiRequest;
}

/** The ids of all calls and of all responses, found in the plainest way: by looking through all open calls. */
function reference(turns: readonly Turn[]): { calls: string[]; responses: string[] } {
  const taken = turns.flatMap(({ calls }) => calls.flatMap(({ id }) => (id ? [id] : [])));
  const ids: { calls: string[]; responses: string[] } = { calls: [], responses: [] };
  let made = 0;
  const newId = () => {
    do made++;
    while (taken.includes(`call_${made}`));
    return `call_${made}`;
  };
  for (const { calls, responses } of turns) {
    const open = calls.map(({ name, id }) => ({ name, id: id || newId() }));
    ids.calls.push(...open.map(({ id }) => id));
    for (const { name, id } of responses) {
      let at = id ? open.findIndex((call) => call.id === id) : -1;
      if (at < 0 && !(id && taken.includes(id))) at = open.findIndex((call) => call.name === name);
      const [found] = at < 0 ? [] : open.splice(at, 1);
      ids.responses.push(found?.id ?? (id || newId()));
    }
  }
  return ids;
}

describe('responses of functions on the Gemini wire', () => {
  it('belong to the call of their id, else to the oldest open one of their name', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
        const { messages } = askOfGemini(requestOf(turns), { model: 'acme/fast', stream: false }).request;
        const calls = messages.flatMap((message) =>
          message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [],
        );
        const responses = messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []));
        expect({ calls, responses }).toEqual(reference(turns));
      }),
      { numRuns: runs(500, 5_000) },
    );
  });
});
