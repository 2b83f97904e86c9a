import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { sandbox, sandboxModelIds, wholeSandbox } from '../../../src/providers/sandbox/index.ts';
import { loremText } from '../../../src/providers/sandbox/texts.ts';
import { splitTokens } from '../../../src/providers/sandbox/tokens.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { eventsOf, sandboxCall } from '../../support/sandbox-call.ts';

const { sandboxModels } = await wholeSandbox();
await sandbox.dialect.load?.();

const isChat = (slug: string) =>
  ![
    'sandbox/embed',
    'sandbox/rerank',
    'sandbox/moderations',
    'sandbox/decisions',
    'sandbox/image',
    'sandbox/speech',
    'sandbox/whisper',
  ].includes(slug);

describe('the sandbox provider', () => {
  it('is a provider without network, key or retention', async () => {
    expect(sandbox).toMatchObject({
      slug: 'sandbox',
      name: 'Sandbox',
      env: [],
      dataPolicy: { zeroRetention: true, trains: false },
    });
    expect(new URL(String(sandbox.baseUrl)).hostname).toMatch(/\.invalid$/);
    const request = { method: 'POST', url: 'http://sandbox.invalid/v1', headers: {}, body: '' } as const;
    expect(await sandbox.auth(request, { secret: 'sk-not-for-the-sandbox' }, manualClock())).toBe(request);
    expect(sandbox.createTransport?.({ clock: manualClock(), random: () => 0 })).toHaveProperty('send');
  });

  it('names its models before they are loaded', () => {
    expect(sandboxModelIds.map((id) => `sandbox/${id}`)).toEqual(sandboxModels.map(({ slug }) => slug));
  });

  it('has models with one endpoint each, whose names say what they are', () => {
    expect(new Set(sandboxModels.map(({ slug }) => slug)).size).toBe(sandboxModels.length);
    for (const { slug, name, endpoints } of sandboxModels) {
      expect(name).toMatch(/^Sandbox: /);
      expect(endpoints).toHaveLength(1);
      const [endpoint] = endpoints;
      expect(endpoint).toMatchObject({
        modelSlug: slug,
        providerSlug: 'sandbox',
        tag: 'sandbox',
        contextLength: isChat(slug) ? 131_072 : expect.any(Number),
      });
      expect(`sandbox/${endpoint?.upstreamModel}`).toBe(slug);
      const prices = Object.values(endpoint?.pricing ?? {}).flatMap((one) =>
        typeof one === 'object' ? Object.values(one) : one,
      );
      expect(prices.every((one) => one === true || Number.isSafeInteger(one))).toBe(true);
    }
  });

  it('knows every model by both its names', async () => {
    for (const { slug, endpoints } of sandboxModels) {
      if (!isChat(slug)) continue;
      if (slug === 'sandbox/timeout' || slug === 'sandbox/unreachable' || slug === 'sandbox/error-404') continue;
      const { clock, send } = sandboxCall();
      for (const model of [slug, endpoints[0]?.upstreamModel ?? '']) {
        const { status, body } = await clock.until(send(model, { sandbox: { first_token_ms: 0, token_ms: 0 } }));
        expect([model, status]).not.toEqual([model, 404]);
        body.cancel();
      }
    }
  });
});

describe('docs/sandbox.md', () => {
  const text = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8');
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| `sandbox/'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );

  it('has a row for each model, in order, with its true price', () => {
    const perMillion = (picoUsd: number | undefined) => `$${((picoUsd ?? Number.NaN) / 1e6).toFixed(2)}`;
    expect(rows.map((cells) => [cells[0], cells.at(-1)])).toEqual(
      sandboxModels.map(({ slug, endpoints: [endpoint] }) => [
        `\`${slug}\``,
        `${perMillion(endpoint?.pricing?.promptPicoUsd)} / ${perMillion(endpoint?.pricing?.completionPicoUsd)}`,
      ]),
    );
    expect(new Set(rows.map((cells) => cells.length))).toEqual(new Set([5, 3]));
    expect(text).toContain(`placeholder text of ${splitTokens(loremText(0), Infinity).length} tokens`);
  });
});

describe('through its dialect', () => {
  const { dialect } = sandbox;
  const result = async (model: string, fields: object = {}) => (await sandboxCall().run(model, fields)).text;

  it('a result is read whole', async () => {
    const decoded = dialect.decodeResult(JSON.parse(await result('reasoning')), {});
    expect(decoded.result.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringContaining('sandbox') },
    });
    expect(decoded.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(10);
  });
  it('every event of every stream is read', async () => {
    for (const model of ['echo', 'reasoning', 'refusal', 'tool-call', 'large-event']) {
      const decoder = dialect.streamDecoder({});
      const tools = [{ type: 'function', function: { name: 'f' } }];
      const text = await result(model, { stream: true, stream_options: { include_usage: true }, tools });
      const kinds = eventsOf(text)
        .flatMap((event) => decoder.decode(event, ''))
        .map(({ kind }) => kind);
      // The last chunk, with the finish reason, comes when nothing can follow it.
      expect(kinds.slice(-4)).toEqual(['finished', 'usage', 'chunk', 'done']);
      expect(kinds.slice(0, -4).every((kind) => kind === 'chunk')).toBe(true);
    }
  });
  it('an error in a stream or a result is an error', async () => {
    expect(() => dialect.decodeResult(JSON.parse('{"error":{"message":"x"}}'), {})).toThrow();
    const inResult = JSON.parse(await result('error-in-200'));
    expect(() => dialect.decodeResult(inResult, {})).toThrow(/sandbox\/error-in-200/);
    const last = eventsOf(await result('error-mid-stream', { stream: true })).at(-1) ?? '';
    expect(dialect.streamDecoder({}).decode(last, '')).toMatchObject([{ kind: 'error' }]);
    const bad = eventsOf(await result('bad-json', { stream: true }))[0] ?? '';
    expect(() => dialect.streamDecoder({}).decode(bad, '')).toThrow();
  });
});

describe('the openai client, straight at the sandbox', () => {
  const { clock, transport } = sandboxCall();
  const client = new OpenAI({
    baseURL: 'http://sandbox.invalid/v1',
    apiKey: 'none',
    maxRetries: 0,
    fetch: fetchThrough(transport),
  });
  const messages = [{ role: 'user' as const, content: 'Hello there' }];

  it('chats', async () => {
    const completion = await clock.until(
      client.chat.completions.create({ model: 'sandbox/echo', messages }).then((whole) => whole),
    );
    expect(completion.choices[0]?.message.content).toBe('Hello there');
  });
  it('streams, with usage', async () => {
    const streaming = client.chat.completions.stream({
      model: 'sandbox/lorem',
      messages,
      stream_options: { include_usage: true },
    });
    const final = await clock.until(streaming.finalChatCompletion());
    expect(final.choices[0]?.message.content).toMatch(/^This is the sandbox/);
    expect(final.usage?.total_tokens).toBe((final.usage?.prompt_tokens ?? 0) + (final.usage?.completion_tokens ?? 0));
  });
  it('runs a tool loop', async () => {
    const seen: string[] = [];
    const runner = client.chat.completions.runTools({
      model: 'sandbox/tool-call',
      messages,
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'Weather of a city',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
            parse: (text: string) => JSON.parse(text) as { city: string },
            function: ({ city }: { city: string }) => {
              seen.push(city);
              return 'Rain';
            },
          },
        },
      ],
    });
    expect(await clock.until(runner.finalContent())).toBe('The sandbox called a tool, which returned: Rain');
    expect(seen).toEqual(['sandbox']);
  });
  it.each([
    ['rate-limited', OpenAI.RateLimitError],
    ['error-401', OpenAI.AuthenticationError],
    ['error-404', OpenAI.NotFoundError],
    ['error-500', OpenAI.InternalServerError],
    ['context-length', OpenAI.BadRequestError],
  ])('raises its own error for sandbox/%s', async (model, kind) => {
    const asking = client.chat.completions.create({ model: `sandbox/${model}`, messages }).then((whole) => whole);
    await expect(clock.until(asking)).rejects.toBeInstanceOf(kind);
  });
});

/** The transport as `fetch`, for clients. */
function fetchThrough(transport: Transport): typeof fetch {
  return async (input, init) => {
    const { status, headers, body } = await transport.send({
      method: 'POST',
      url: String(input),
      headers: {},
      body: String(init?.body),
      signal: init?.signal ?? new AbortController().signal,
      limits: { headerBytes: 16_384 },
    });
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const bytes = await body.read();
        if (bytes) controller.enqueue(bytes);
        else controller.close();
      },
      cancel: () => body.cancel(),
    });
    return new Response(stream, { status, headers });
  };
}
