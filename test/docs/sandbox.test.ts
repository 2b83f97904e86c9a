import { expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import { manualClock } from '../support/manual-clock.ts';
import { eventsOf } from '../support/sandbox-call.ts';
import { codeBlocks, readDoc } from './markdown.ts';

const doc = readDoc('docs/sandbox.md');

/** Sends a body as the docs show it. */
async function send(body: string): Promise<{ status: number; chunks: { error?: object; choices: object[] }[] }> {
  const clock = manualClock();
  const key = 'sk-test-inference';
  const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }], clock });
  const type = 'application/x-www-form-urlencoded';
  const init = { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': type }, body };
  const response = await clock.until(gateway.fetch('http://127.0.0.1:8787/v1/chat/completions', init));
  const events = eventsOf(await clock.until(response.text())).filter((event) => event.startsWith('{'));
  return { status: response.status, chunks: events.map((event) => JSON.parse(event)) };
}

it('the curl line of docs/sandbox.md streams an answer', async () => {
  const [curl = ''] = codeBlocks(doc, 'sh');
  const body = / -d '(.*)'$/ms.exec(curl)?.[1] ?? '';
  const { status, chunks } = await send(body);
  expect([status, chunks.length > 70]).toEqual([200, true]);
});

it('the request of docs/sandbox.md that tunes an answer breaks after as many tokens as it says', async () => {
  const [json = ''] = codeBlocks(doc, 'json');
  const { status, chunks } = await send(json);
  expect(status).toBe(200);
  expect(chunks.at(-1)?.error).toMatchObject({ code: 502 });
  // One opens the answer, one ends it.
  expect(chunks.length).toBe(JSON.parse(json).sandbox.tokens + 2);
});
