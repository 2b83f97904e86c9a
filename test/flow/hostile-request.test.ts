import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import { resultOf } from '../support/hostile.ts';

const hello = [{ role: 'user', content: 'Hello' }];
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('a request', () => {
  it('with prototype keys pollutes nothing, and what stands beside them arrives', async () => {
    const polluting =
      '"__proto__":{"polluted":"yes","role":"x","content":"evil"},"constructor":{"prototype":{"polluted":"yes"}},"toString":1,"hasOwnProperty":2';
    const { send, sent } = requestGateway();
    const answer = await send(
      `{"model":"up/x",${polluting},"messages":[{"role":"user","content":"Hi",${polluting}}],"temperature":0.5}`,
    );
    expect(answer.status, await answer.clone().text()).toBe(200);
    expect(sent()).toMatchObject({ model: 'x', temperature: 0.5, messages: [{ role: 'user', content: 'Hi' }] });
    // Unknown fields pass, those with such names too, but for the one that would set a prototype.
    expect((sent() as { toString: unknown }).toString).toBe(1);
    expect(Object.hasOwn(sent() ?? {}, '__proto__')).toBe(false);
  });

  it.each([
    ['of a million brackets', deep(1_000_000)],
    ['of a million opening brackets', '['.repeat(1_000_000)],
    ['of objects 100,000 deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    [
      'with a field that nests deep',
      JSON.stringify({ model: 'up/x', messages: hello }).replace('"model"', `"more":${deep(200)},"model"`),
    ],
    [
      'with a tool that nests deep',
      JSON.stringify({
        model: 'up/x',
        messages: hello,
        tools: [{ type: 'function', function: { name: 'f', parameters: 'DEEP' } }],
      }).replace('"DEEP"', `{"a":${deep(5000)}}`),
    ],
  ])('%s is a 400 and reaches nobody', async (_, body) => {
    const { send, sent } = requestGateway();
    const answer = await send(body);
    expect(answer.status).toBe(400);
    expect((await answer.text()).length).toBeLessThan(1000);
    expect(sent()).toBeNull();
  });

  it('of more than 32 MiB is a 413, whether it says so or not', async () => {
    const { send, sent } = requestGateway();
    const piece = new TextEncoder().encode(' '.repeat(1024 * 1024));
    let produced = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        produced++;
        controller.enqueue(piece);
      },
    });
    const before = process.memoryUsage().rss;
    expect((await send(endless)).status).toBe(413);
    expect(produced).toBeLessThan(40);
    expect(
      (await send(`{"model":"up/x","messages":[{"role":"user","content":"${'x'.repeat(32 * 1024 * 1024)}"}]}`)).status,
    ).toBe(413);
    expect(process.memoryUsage().rss - before).toBeLessThan(400e6);
    expect(sent()).toBeNull();
  });

  it('of almost 32 MiB is served', async () => {
    const { send, sent } = requestGateway();
    const content = 'x'.repeat(31 * 1024 * 1024);
    const answer = await send(JSON.stringify({ model: 'up/x', messages: [{ role: 'user', content }] }));
    expect(answer.status).toBe(200);
    expect((sent() as { messages: { content: string }[] }).messages[0]?.content.length).toBe(content.length);
  });
});

function requestGateway() {
  let last: Record<string, unknown> | null = null;
  const gateway = createGateway({
    providers: { up: { baseUrl: 'http://up.invalid/v1' } },
    apiKeys: [{ key: 'hostile-test-key' }],
    fetch: async (_url, init) => {
      last = JSON.parse(init?.body as string);
      return Response.json(resultOf());
    },
  });
  const send = (body: BodyInit) =>
    gateway.fetch('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer hostile-test-key', 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
  return { send, sent: () => last };
}
