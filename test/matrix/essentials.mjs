// What must hold on every runtime, in plain JavaScript with web-standard globals only: the same files run on Node, Bun,
// Deno, workerd and in a browser bundle.
import { consoleChecks } from './essentials-console.mjs';
import {
  check,
  chunk,
  completion,
  cut,
  encode,
  equal,
  events,
  json,
  notEqual,
  stream,
  streamText,
  withinSeconds,
} from './essentials-support.mjs';
import { sqliteChecks, tenantChecks } from './essentials-tenants.mjs';

/**
 * Runs every check.
 * @param createGateway  of the package under test, as that runtime resolves it
 * @param consoleHandler the same
 * @param upstreamUrl    base URL of the loopback upstream
 * @param log            takes one line per check
 * @param sqliteStore    of the package, where the runtime has a file system
 * @returns              how many passed and failed
 */
export async function runEssentials({ createGateway, consoleHandler, upstreamUrl, log, sqliteStore }) {
  const counts = { passed: 0, failed: 0 };
  const all = { ...checks, ...tenantChecks, ...consoleChecks, ...(sqliteStore ? sqliteChecks : {}) };
  for (const [name, check] of Object.entries(all)) {
    try {
      await withinSeconds(20, check({ createGateway, consoleHandler, upstreamUrl, sqliteStore }));
      counts.passed++;
      log(`ok   ${name}`);
    } catch (error) {
      counts.failed++;
      log(`FAIL ${name}: ${error?.stack ?? error}`);
    }
  }
  return counts;
}

const checks = {
  async 'answers a whole completion under its own id and model'(context) {
    const { gateway, sent } = scripted(context, () => json(completion('Hello')));
    const response = await ask(gateway, {});
    const body = await response.json();
    equal(response.status, 200, 'status');
    equal(body.model, 'acme/fast', 'model');
    notEqual(body.id, 'upstream-1', 'id');
    equal(body.choices[0].message.content, 'Hello', 'content');
    equal(body.choices[0].finish_reason, 'stop', 'finish_reason');
    equal(body.usage.total_tokens, 7, 'total_tokens');
    equal(sent.length, 1, 'requests upstream');
    equal(sent[0].url, 'https://one.invalid/v1/chat/completions', 'upstream URL');
    equal(sent[0].headers.get('authorization'), 'Bearer upstream-key-one', 'upstream key');
    equal(JSON.parse(sent[0].body).model, 'fast-1', 'upstream model');
  },

  async 'puts a stream together that arrives cut at odd bytes'(context) {
    const words = ['Grüße ', '你好 ', '👋🏽 ', 'end'];
    const { gateway, sent } = scripted(context, () => stream(cut(encode(streamText(words)), 7)));
    const response = await ask(gateway, { stream: true });
    equal(response.status, 200, 'status');
    const { chunks, done } = await readEvents(response);
    equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), words.join(''), 'content');
    equal(new Set(chunks.map(({ id }) => id)).size, 1, 'ids');
    check(
      chunks.every(({ id }) => id !== 'upstream-1'),
      'the id is the gateway’s own',
    );
    check(
      chunks.every(({ model }) => model === 'acme/fast'),
      'every chunk names the model asked for',
    );
    equal(chunks.filter(({ choices }) => choices.length === 0).length, 1, 'usage chunks');
    equal(chunks.at(-1).usage.total_tokens, 7, 'total_tokens');
    check(done, '[DONE] ends the stream');
    equal(JSON.parse(sent[0].body).stream_options?.include_usage, true, 'usage asked for');
  },

  async 'answers 401 without a key, and with a wrong one'(context) {
    const { gateway, sent } = scripted(context, () => json(completion('never')));
    for (const authorization of [undefined, 'Bearer wrong']) {
      const response = await ask(gateway, {}, { authorization });
      equal(response.status, 401, 'status');
      equal((await response.json()).error.code, 401, 'error.code');
    }
    equal(sent.length, 0, 'requests upstream');
  },

  async 'answers 400 with what was wrong'(context) {
    const { gateway, sent } = scripted(context, () => json(completion('never')));
    const response = await ask(gateway, { temperature: 9 });
    const text = await response.text();
    equal(response.status, 400, 'status');
    equal(JSON.parse(text).error.code, 400, 'error.code');
    check(text.includes('temperature'), 'the answer names the field');
    equal(sent.length, 0, 'requests upstream');
  },

  async 'inflates a body, or says which compressions it takes'(context) {
    const { gateway, sent } = scripted(context, () => json(completion('Hello')));
    for (const [coding, base64] of Object.entries(compressedChats)) {
      const body = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const response = await askWith(gateway, body, { 'content-encoding': coding });
      const taken = response.headers.get('accept-encoding');
      if (response.status !== 415) equal(response.status, 200, `${coding} status`);
      else equal(['gzip', 'deflate'].includes(coding) ? 'refused' : taken, 'gzip, deflate', `${coding}: taken instead`);
      if (response.status === 200) equal(JSON.parse(sent.at(-1).body).messages[0].content, 'Hi', `${coding} content`);
      const cut = await askWith(gateway, body.subarray(0, -12), { 'content-encoding': coding });
      equal(cut.status, response.status === 415 ? 415 : 400, `${coding}, cut: status`);
    }
    const spaces = new Response(new Uint8Array(40_000_000).fill(32)).body.pipeThrough(new CompressionStream('gzip'));
    const bomb = new Uint8Array(await new Response(spaces).arrayBuffer());
    equal((await askWith(gateway, bomb, { 'content-encoding': 'gzip' })).status, 413, 'status of a bomb');
  },

  async 'falls over to the next endpoint after a 500'(context) {
    const { gateway, sent } = scripted(context, ({ url }) =>
      url.startsWith('https://one.') ? json({ error: { message: 'broken' } }, 500) : json(completion('from two')),
    );
    const body = await (await ask(gateway, {})).json();
    equal(body.choices[0].message.content, 'from two', 'content');
    equal(sent.at(-1).headers.get('authorization'), 'Bearer upstream-key-two', 'upstream key');
    check(sent.length >= 2, 'both were tried');
  },

  async 'tells of an upstream that breaks off'(context) {
    const { gateway } = scripted(context, () =>
      stream([encode(events([chunk({ role: 'assistant', content: 'Hel' })]))]),
    );
    const { chunks } = await readEvents(await ask(gateway, { stream: true }));
    const last = chunks.at(-1);
    check(last.error !== undefined, 'the last chunk holds an error');
    equal(last.choices[0].finish_reason, 'error', 'finish_reason');
    check(!chunks.some(({ choices }) => choices[0]?.finish_reason === 'stop'), 'it is not presented as complete');
  },

  async 'closes the upstream when the client leaves'(context) {
    let cancelled;
    const closed = new Promise((resolve) => {
      cancelled = resolve;
    });
    const first = encode(events([chunk({ role: 'assistant', content: 'one' })]));
    const { gateway } = scripted(context, () => {
      const body = new ReadableStream({ start: (sink) => sink.enqueue(first), cancel: cancelled });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    const client = new AbortController();
    const response = await ask(gateway, { stream: true }, { signal: client.signal });
    const reader = response.body.getReader();
    await reader.read();
    client.abort();
    await reader.cancel().catch(() => {});
    await withinSeconds(2, closed);
  },

  async 'answers in process: a completion, a stream, a model of the AI SDK, a client without a key'(context) {
    const words = ['Grüße ', '你好 ', '👋🏽'];
    const { gateway, sent } = scripted(context, ({ body }) =>
      JSON.parse(body).stream ? stream(cut(encode(streamText(words)), 7)) : json(completion('Hello')),
    );
    const body = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] };
    const { choices } = await gateway.chat.completions.create(body);
    equal(choices[0].message.content, 'Hello', 'content');
    let text = '';
    for await (const one of await gateway.chat.completions.create({ ...body, stream: true }))
      text += one.choices[0]?.delta.content ?? '';
    equal(text, words.join(''), 'streamed');
    const model = gateway.as({ permissions: ['inference'] }).languageModel('acme/fast');
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
    equal((await model.doGenerate({ prompt })).content[0].text, 'Hello', 'content of the model');
    let said = '';
    const reader = (await model.doStream({ prompt })).stream.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read())
      if (part.value.type === 'text-delta') said += part.value.delta;
    equal(said, words.join(''), 'streamed by the model');
    const { baseURL, fetch } = gateway.clientOptions();
    const headers = { 'content-type': 'application/json', authorization: 'Bearer unused' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    equal((await fetch(`${baseURL}/chat/completions`, init)).status, 200, 'status of the client');
    equal(sent.length, 5, 'requests upstream');
  },

  async 'adds routing metadata where it is asked for'(context) {
    const { gateway } = scripted(context, () => json(completion('Hello')));
    const plain = await (await ask(gateway, {})).json();
    equal(plain.service_metadata, undefined, 'unasked metadata');
    const body = await (await ask(gateway, {}, { 'x-service-metadata': 'enabled' })).json();
    equal(typeof body.service_metadata, 'object', 'service_metadata');
  },

  async 'answers from the sandbox, whole and streamed'(context) {
    const gateway = context.createGateway({ providers: { sandbox: {} }, apiKeys: [apiKey] });
    const request = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Good morning, Ωmega' }] };
    const body = await (await ask(gateway, request)).json();
    check(body.choices[0].message.content.includes('Good morning, Ωmega'), 'the echo holds the message');
    const { chunks, done } = await readEvents(await ask(gateway, { ...request, stream: true }));
    const text = chunks.map((part) => part.choices[0]?.delta.content ?? '').join('');
    equal(text, body.choices[0].message.content, 'streamed content');
    check(done, '[DONE] ends the stream');
  },

  async 'knows the models and the prices that are built in, and those of a document'(context) {
    const asked = [];
    const fetch = async (url) => {
      asked.push(String(url));
      return json(completion('Hello'));
    };
    const writer = { slug: 'acme/writer', endpoints: [{ provider: 'openai', model: 'gpt-4.1-mini' }] };
    const gateway = context.createGateway({
      providers: { openai: { apiKey: 'upstream-key' } },
      catalog: { source: () => ({ models: [writer] }) },
      apiKeys: [apiKey],
      fetch,
    });
    for (const model of ['openai/gpt-4.1', 'openai/gpt-4.1-nano', 'acme/writer']) {
      const { usage } = await (await ask(gateway, { model })).json();
      check(usage.cost > 0, `${model} has a price`);
    }
    equal(asked.length, 3, 'requests upstream');
  },

  async 'talks to a real upstream through its own transport'(context) {
    const gateway = real(context);
    for (const model of ['local/plain', 'local/zipped']) {
      const response = await ask(gateway, { model });
      equal(response.status, 200, `${model} status`);
      equal((await response.json()).choices[0].message.content, 'one two', `${model} content`);
    }
    const { chunks, done } = await readEvents(await ask(gateway, { model: 'local/plain', stream: true }));
    equal(chunks.map((part) => part.choices[0]?.delta.content ?? '').join(''), 'one two', 'streamed content');
    check(done, '[DONE] ends the stream');
    await gateway.close();
  },

  async 'hangs up on a real upstream when the client leaves'(context) {
    const gateway = real(context);
    const before = await closedEarly(context);
    const client = new AbortController();
    const response = await ask(gateway, { model: 'local/endless', stream: true }, { signal: client.signal });
    const reader = response.body.getReader();
    await reader.read();
    client.abort();
    await reader.cancel().catch(() => {});
    await withinSeconds(
      5,
      (async () => {
        while ((await closedEarly(context)) === before);
      })(),
    );
    await gateway.close();
  },
};

const apiKey = { key: 'gateway-key', permissions: ['inference'] };

/** `{"model":"acme/fast","messages":[{"role":"user","content":"Hi"}]}`, compressed, in base64. */
const compressedChats = {
  zstd: 'KLUv/SBB7QEAEkQOFpC16YJC1IAaQrAmW2b7VZVfDPn6ByWNaAOE74W6UCqTVTPwXZPUbLizB2b2TF6JRtBT8Nu0SGcWAA==',
  br: 'G0AA4JwHtq0lu2EGA6+dgfC1yN7Wy0YKG0vTLDpdfVKkrM0xDpgH3q7Px/EWeUCaTHBkN3tAWD5S0ZmhwRp2Aw==',
  gzip: 'H4sIAAAAAAAAAwXBOwqAMBRFwb2cOmD/VuAexCLEqwj5QF6sQvbuzKS0SxkjpqLtjj4IFLnHR44dk96yMD5XJ5BaHaoDY39Z5/oBRge45kEAAAA=',
  deflate: 'eJwFwTsKgDAURcG9nDpg/1bgHsQixKsI+UBerEL27syktEsZI6ai7Y4+CBS5x0eOHZPesjA+VyeQWh2qA2N/Wef6AdDGFb4=',
};

/** A gateway whose upstreams are a function. */
function scripted({ createGateway }, answer) {
  const sent = [];
  const gateway = createGateway({
    providers: {
      one: { baseUrl: 'https://one.invalid/v1', apiKey: 'upstream-key-one' },
      two: { baseUrl: 'https://two.invalid/v1', apiKey: 'upstream-key-two' },
    },
    models: [
      {
        slug: 'acme/fast',
        endpoints: [
          { provider: 'one', model: 'fast-1' },
          { provider: 'two', model: 'fast-2' },
        ],
      },
    ],
    apiKeys: [apiKey],
    async fetch(input, init) {
      const request = new Request(input, init);
      const seen = { url: request.url, headers: request.headers, body: await request.text() };
      sent.push(seen);
      return answer(seen);
    },
  });
  return { gateway, sent };
}

function real({ createGateway, upstreamUrl }) {
  return createGateway({ providers: { local: { baseUrl: `${upstreamUrl}/v1` } }, apiKeys: [apiKey] });
}

async function closedEarly({ upstreamUrl }) {
  return (await fetch(`${upstreamUrl}/closed-early`)).text();
}

function ask(gateway, fields, options) {
  const body = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }], ...fields };
  return askWith(gateway, JSON.stringify(body), options);
}

function askWith(gateway, body, { signal, ...headers } = {}) {
  const sent = new Headers({ 'content-type': 'application/json', authorization: `Bearer ${apiKey.key}` });
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) sent.delete(name);
    else sent.set(name, value);
  }
  return gateway.fetch('https://gateway.invalid/v1/chat/completions', { method: 'POST', headers: sent, body, signal });
}

async function readEvents(response) {
  const text = await response.text();
  const data = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
  const chunks = data.filter((item) => item !== '[DONE]').map((item) => JSON.parse(item));
  return { chunks, done: data.at(-1) === '[DONE]' };
}
