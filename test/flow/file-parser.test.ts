import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { GatewayError } from '../../src/base/errors.ts';
import type { PdfReader } from '../../src/documents/pdf.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { type FileParserOptions, fileParser } from '../../src/plugins/file-parser/index.ts';
import type { OcrEngine } from '../../src/plugins/file-parser/ocr.ts';
import { askResponses, nativeMessage, nativeResponse, nativeUp, streamResponses } from '../support/ask-responses.ts';
import { ledgerOf, withBudget } from '../support/booked.ts';
import { checkResponsesStream } from '../support/check-responses.ts';
import { checkError, testGateway } from '../support/gateway.ts';
import { pdfOf } from '../support/pdf.ts';
import { completion, textStream } from '../support/upstream.ts';

const metadata = { 'x-service-metadata': 'enabled' };
const plugins = [{ id: 'file-parser' }];
const dataUrl = (bytes: Uint8Array) => `data:application/pdf;base64,${Buffer.from(bytes).toString('base64')}`;
const paper = pdfOf(['The answer is 42.']);
const filePart = (file_data = dataUrl(paper), filename: string | undefined = 'paper.pdf') => ({
  type: 'file',
  file: { file_data, ...(filename === undefined ? {} : { filename }) },
});
const text = (value: string) => ({ type: 'text', text: value });
const asked = (...parts: object[]) => [{ role: 'user', content: [text('What is it?'), ...parts] }];
const ask = { model: 'acme/fast', messages: asked(filePart()), plugins, max_tokens: 50 };
const inPlace = [text('What is it?'), text('<file name="paper.pdf">\n'), text('The answer is 42.'), text('\n</file>')];

/** Says what it is told to, and counts how often it is asked. */
function readerOf(say: PdfReader['read'] = async () => ({ pages: ['The answer is 42.'], total: 1, isCut: false })) {
  const seen = { reads: 0 };
  const reader: PdfReader = {
    read(...args) {
      seen.reads++;
      return say(...args);
    },
  };
  return { reader, seen };
}

function gatewayWith(settings: FileParserOptions = {}, options: Partial<GatewayOptions> = {}) {
  const { reader, seen } = readerOf();
  const test = testGateway({ plugins: [fileParser({ reader, ...settings })], ...options });
  test.upstream.always({ body: completion() });
  return { ...test, seen };
}

describe('a PDF in a request', () => {
  it('is text for the model, without any setting', async () => {
    // A thread reads it, of which a manual clock knows nothing.
    const { send, upstream } = testGateway({ clock: systemClock });
    upstream.always({ body: completion() });
    const response = await send(ask, metadata);
    const json = (await response.json()) as { service_metadata?: { pipeline?: unknown } };
    expect(response.status).toBe(200);
    expect(upstream.sent[0]?.body.messages).toEqual([{ role: 'user', content: inPlace }]);
    expect(json.service_metadata?.pipeline).toEqual([
      {
        type: 'plugin',
        name: 'file-parser',
        summary: '1 PDFs read',
        data: {
          engine: 'cloudflare-ai',
          files: [{ hash: expect.stringMatching(/^[0-9a-f]{64}$/), pages: 1, chars: 17 }],
        },
      },
    ]);
  });
  it.each<[string, object]>([
    ['a data URL', filePart()],
    ['a data URL of no type', filePart(dataUrl(paper).replace('application/pdf', 'application/octet-stream'))],
    ['plain base64', filePart(Buffer.from(paper).toString('base64'))],
  ])('may be %s', async (_, part) => {
    const { post, upstream } = gatewayWith();
    await post({ ...ask, messages: asked(part) });
    expect(upstream.sent[0]?.body.messages).toEqual([{ role: 'user', content: inPlace }]);
  });
  it('is annotated in the response, and not read again where the client sends the annotation back', async () => {
    const { post, upstream, seen } = gatewayWith();
    const { json } = await post(ask);
    const message = json.choices[0]?.message as { annotations?: { file: { hash: string } }[] };
    expect(message.annotations).toEqual([
      {
        type: 'file',
        file: { hash: expect.any(String), name: 'paper.pdf', content: [text('The answer is 42.')] },
      },
    ]);
    const turns = [...ask.messages, { role: 'assistant', ...message }, { role: 'user', content: 'Sure?' }];
    const again = await post({ ...ask, messages: turns }, metadata);
    expect(seen.reads).toBe(1);
    expect(again.json.service_metadata?.pipeline).toMatchObject([{ summary: '0 PDFs read, 1 known from annotations' }]);
    expect(upstream.sent[1]?.text).toContain('The answer is 42.');
    expect(upstream.sent[1]?.text).not.toContain('annotations');
    // Of another file, the annotation says nothing.
    await post({ ...ask, messages: [...asked(filePart(dataUrl(pdfOf(['Other'])))), ...turns.slice(1)] });
    expect(seen.reads).toBe(2);
  });
  it('is annotated in a stream too', async () => {
    const { post, upstream } = gatewayWith();
    upstream.answer({ body: textStream('It is 42.') });
    const { text: sent } = await post({ ...ask, stream: true });
    expect(sent).toContain('"annotations":[{"type":"file"');
    expect(sent).toContain('data: [DONE]');
  });
  it('of which there are several is read once each', async () => {
    const { post, seen, upstream } = gatewayWith();
    await post({ ...ask, messages: asked(filePart(), text('and'), filePart(), filePart(dataUrl(pdfOf(['2'])))) });
    expect(seen.reads).toBe(2);
    expect(upstream.sent[0]?.text.match(/<file /g)).toHaveLength(3);
  });
  it('stays as it is where the request switches the plugin off, or asks for the engine "native"', async () => {
    const { post, upstream, seen } = gatewayWith({ isDefault: true });
    await post({ ...ask, plugins: [{ id: 'file-parser', enabled: false }] });
    const { json } = await post({ ...ask, plugins: [{ id: 'file-parser', pdf: { engine: 'native' } }] }, metadata);
    expect(seen.reads).toBe(0);
    for (const { body } of upstream.sent) expect(body.messages).toEqual(ask.messages);
    expect(json.service_metadata?.pipeline).toMatchObject([{ data: { engine: 'native', files: [] } }]);
    await post({ model: ask.model, messages: ask.messages });
    expect(seen.reads).toBe(1);
  });
  it('stays as it is where every model of the request takes files', async () => {
    const endpoints = [{ provider: 'up', model: 'm' }];
    const models = [
      { slug: 'acme/reads', inputModalities: ['text', 'file'] as ('text' | 'file')[], endpoints },
      { slug: 'acme/fast', inputModalities: ['text'] as ['text'], endpoints },
    ];
    const { post, seen } = gatewayWith({}, { models });
    for (const model of ['acme/reads', 'acme/reads:nitro']) await post({ ...ask, model });
    expect(seen.reads).toBe(0);
    await post({ ...ask, model: 'acme/reads', models: ['acme/fast'] });
    await post({ ...ask, model: 'service/auto' });
    expect(seen.reads).toBe(2);
  });
  it('leaves files of other kinds alone, and parts that are none', async () => {
    const { post, upstream, seen } = gatewayWith();
    const parts = [
      filePart('data:text/plain;base64,aGVsbG8='),
      filePart('data:text/plain,hello'),
      filePart('https://files.test/a.png', 'a.png'),
      { type: 'file', file: { file_id: 'f_1' } },
      { type: 'image_url', image_url: { url: 'https://files.test/a.png' } },
    ];
    expect((await post({ ...ask, messages: asked(...parts) })).status).toBe(200);
    expect(upstream.sent[0]?.body.messages).toEqual(asked(...parts));
    expect(seen.reads).toBe(0);
  });
});

describe('a PDF that cannot be read', () => {
  it.each<[string, object, FileParserOptions, string]>([
    [
      'is too large',
      asked(filePart()),
      { maxBytes: 100 },
      'messages[0].content[1]: expected a PDF of at most 100 bytes',
    ],
    [
      'is one too many',
      asked(filePart(), filePart()),
      { maxFiles: 1 },
      'messages[0].content[2]: expected at most 1 PDFs',
    ],
    [
      'is none',
      asked(filePart(dataUrl(new TextEncoder().encode('hello')))),
      {},
      'messages[0].content[1]: expected a PDF',
    ],
    [
      'is damaged',
      asked(filePart()),
      { reader: readerOf(async () => 'unreadable').reader },
      'messages[0].content[1]: expected a PDF that can be read',
    ],
    [
      'takes too much memory',
      asked(filePart()),
      { reader: readerOf(async () => 'too_costly').reader },
      'messages[0].content[1]: expected a PDF that takes less memory',
    ],
    [
      'has only pictures',
      asked(filePart()),
      { reader: readerOf(async () => ({ pages: ['', ' '], total: 2, isCut: false })).reader },
      'messages[0].content[1]: expected a PDF with text',
    ],
  ])('since it %s is a 400 that names its place', async (_, messages, settings, message) => {
    const { post, upstream } = gatewayWith(settings);
    const { status, json } = await post({ ...ask, messages });
    checkError(400, json);
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(message)]);
    expect(upstream.sent).toEqual([]);
  });
  it('in time is a 400, and the reading ends', async () => {
    let reason: unknown;
    const { reader } = readerOf(
      (_bytes, _limits, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(signal.reason);
          });
        }),
    );
    const { post } = gatewayWith({ reader, timeoutMs: 500 });
    const { status, json } = await post(ask);
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('longer than 500 ms')]);
    expect(reason).toBeInstanceOf(Error);
  });
  it('is not one for the time for which it waits for others', async () => {
    const told: string[] = [];
    const { reader } = readerOf(async (_bytes, limits, signal, turn) => {
      turn?.onWait?.();
      await clock.advance(40_000);
      told.push(`${signal.aborted} ${turn?.workspaceId} ${turn?.maxWaiting} ${limits.memoryBytes}`);
      turn?.onStart?.();
      await clock.advance(499);
      told.push(`${signal.aborted}`);
      await clock.advance(2);
      told.push(`${signal.aborted}`);
      return { pages: ['late'], total: 1, isCut: false };
    });
    const settings = { reader, timeoutMs: 500, maxWaiting: 7, maxMemoryBytes: 1024 };
    const { post, clock } = gatewayWith(settings, { timeouts: { pluginMs: 100_000 } });
    const { status, json } = await post(ask);
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('longer than 500 ms')]);
    expect(told.slice(0, 2)).toEqual([expect.stringMatching(/^false [\w-]+ 7 1024$/), 'false']);
  });
  it('since too many of the workspace wait is a 429 that says when to come again', async () => {
    const { reader } = readerOf(() => {
      throw new GatewayError('rate_limited', '7 documents of the workspace wait', { retryAfterMs: 5_000 });
    });
    const response = await gatewayWith({ reader }).send(ask);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '5']);
  });
  it('is given up when the client leaves', async () => {
    const leaving = new AbortController();
    let wasAborted = false;
    const { reader } = readerOf(
      (_bytes, _limits, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            wasAborted = true;
            reject(signal.reason);
          });
          leaving.abort();
        }),
    );
    const { send, records, clock, upstream } = gatewayWith({ reader });
    await send(ask, {}, leaving.signal).catch(() => undefined);
    await clock.advance(1);
    expect(wasAborted).toBe(true);
    expect(records).toMatchObject([{ outcome: 'cancelled', costNanoUsd: 0 }]);
    expect(upstream.sent).toEqual([]);
  });
});

describe('a PDF of which some pages are pictures', () => {
  it('names these pages to the model and in the stage', async () => {
    const pages = ['one', 'two', '', 'four', ' ', '', '\n'];
    const { reader } = readerOf(async () => ({ pages, total: 7, isCut: false }));
    const { send, upstream } = gatewayWith({ reader });
    const response = await send(ask, metadata);
    const json = (await response.json()) as { service_metadata: { pipeline: unknown } };
    const messages = upstream.sent[0]?.body.messages as { content: { text: string }[] }[] | undefined;
    const sent = messages?.[0]?.content[2];
    expect(sent?.text).toMatch(/^\[pages 3, 5–7 hold no text: .*\]\n\none\n\ntwo/);
    expect(json.service_metadata.pipeline).toMatchObject([
      {
        summary: '1 PDFs read; paper.pdf: pages 3, 5–7 hold no text',
        data: { files: [{ pages: 7, pages_without_text: '3, 5–7' }] },
      },
    ]);
  });
});

describe('a PDF at a URL', () => {
  const atUrl = asked({ type: 'file', file: { file_data: 'https://files.test/papers/one%20paper.pdf?x=1' } });

  it('is fetched, within the limit', async () => {
    const fetched: unknown[] = [];
    const { post, upstream } = gatewayWith(
      { maxBytes: 5_000 },
      {
        async fetchUrl(url, { maxBytes }) {
          fetched.push([url, maxBytes]);
          return { url, mediaType: 'application/pdf', charset: null, bytes: paper };
        },
      },
    );
    await post({ ...ask, messages: atUrl });
    expect(fetched).toEqual([['https://files.test/papers/one%20paper.pdf?x=1', 5_000]]);
    expect(upstream.sent[0]?.text).toContain('<file name=\\"one%20paper.pdf\\">');
  });
  it.each([
    [
      'of an address that is not public',
      'http://169.254.169.254/a.pdf',
      'expected a URL whose host has public addresses',
    ],
    ['of another port', 'https://example.com:22/a.pdf', 'expected a URL with http or https, a usual port'],
  ])('%s is a 400 that names its place', async (_, file_data, message) => {
    const { post, upstream } = gatewayWith();
    const { status, json } = await post({ ...ask, messages: asked({ type: 'file', file: { file_data } }) });
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(`messages[0].content[1]: ${message}`)]);
    expect(upstream.sent).toEqual([]);
  });
});

describe('the engine mistral-ocr', () => {
  const ocrPlugins = [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }];
  const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } };
  const ocrOf = (read: OcrEngine['read']): OcrEngine => ({ nanoUsdPerPage: 1_000_000, read });

  it('is a 400 where the operator has set up none', async () => {
    const { post } = gatewayWith();
    const { status, json } = await post({ ...ask, plugins: ocrPlugins });
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('mistral-ocr is not set up here')]);
  });
  it('is paid for by page: held for the most pages, booked for those that were read', async () => {
    const { reader } = readerOf();
    const ocr = ocrOf(async () => ({ content: [text('Scanned') as never, image], pages: 3 }));
    const test = await withBudget(1, { plugins: [fileParser({ reader, ocr, maxPages: 10 })] });
    test.upstream.always({ body: completion() });
    const { json } = await test.post({ ...ask, model: 'acme/one', plugins: ocrPlugins }, metadata);
    expect(test.upstream.sent[0]?.text).toContain('Scanned');
    expect(json.usage?.cost).toBeCloseTo(0.003 + (test.records[0]?.generations[0]?.costNanoUsd ?? Number.NaN) / 1e9, 9);
    expect(await ledgerOf(test)).toEqual({ spent: test.records[0]?.costNanoUsd, held: 0 });
  });
  it('is refused where the budget does not have the highest price', async () => {
    const { reader } = readerOf();
    let reads = 0;
    const ocr = ocrOf(async () => {
      reads++;
      return { content: [], pages: 1 };
    });
    const test = await withBudget(0.005, { plugins: [fileParser({ reader, ocr, maxPages: 10 })] });
    expect((await test.post({ ...ask, model: 'acme/one', plugins: ocrPlugins })).status).toBe(402);
    expect(reads).toBe(0);
  });
  it('is a 502 that says nothing of the service where it fails', async () => {
    const { reader } = readerOf();
    const ocr = ocrOf(async () => {
      throw new Error('key sk-ocr-0123456789 is wrong');
    });
    const { post } = gatewayWith({ reader, ocr });
    const { status, text: sent } = await post({ ...ask, plugins: ocrPlugins });
    expect(status).toBe(502);
    expect(sent).not.toContain('sk-ocr');
  });
});

describe('a PDF in a Responses request', () => {
  const file = { type: 'input_file', file_data: dataUrl(paper), filename: 'paper.pdf' };
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'What is it?' }, file] }];

  it('is text for a model of chat, annotated in JSON and in a stream', async () => {
    const test = gatewayWith();
    const { json } = await askResponses(test, { input, plugins });
    expect(test.upstream.sent[0]?.body.messages).toEqual([{ role: 'user', content: inPlace }]);
    const [message] = json.output;
    expect(message.content[0].annotations).toEqual([
      expect.objectContaining({ type: 'file_citation', filename: 'paper.pdf', content: [text('The answer is 42.')] }),
    ]);
    await askResponses(test, { input: [...input, message, { role: 'user', content: 'Sure?' }], plugins });
    expect(test.seen.reads).toBe(1);
    expect(test.upstream.sent[1]?.text).not.toContain('annotations');
    test.upstream.answer({ body: textStream('It is 42.') });
    const { final } = checkResponsesStream((await streamResponses(test, { input, plugins })).text);
    expect(JSON.stringify(final.output)).toContain('"file_citation"');
  });
  it('is text for a provider that speaks Responses, too', async () => {
    const test = gatewayWith({}, nativeUp);
    test.upstream.always({ body: nativeResponse([nativeMessage('It is 42.')]) });
    expect((await askResponses(test, { input, plugins })).status).toBe(200);
    expect(test.upstream.sent[0]?.text).toContain('The answer is 42.');
    expect(test.upstream.sent[0]?.text).not.toContain('input_file');
  });
  it('that a tool returned is text for a model that takes no files', async () => {
    const models = [
      { slug: 'acme/fast', inputModalities: ['text'] as ['text'], endpoints: [{ provider: 'up', model: 'm' }] },
    ];
    const test = gatewayWith({}, { models });
    const called = [
      { role: 'user', content: 'Read it' },
      { type: 'function_call', call_id: 'c', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [file] },
    ];
    expect((await askResponses(test, { input: called })).status).toBe(400);
    expect((await askResponses(test, { input: called, plugins })).status).toBe(200);
    expect(test.upstream.sent[0]?.text).toContain('The answer is 42.');
  });
});

describe('an explanation', () => {
  const explained = (body: object, options: FileParserOptions = {}) =>
    gatewayWith(options).call('POST', '/chat/completions/explain', body);
  const scan = { ...ask, messages: asked(filePart(), filePart()) };

  it('says which files are read, and what that costs at most', async () => {
    const { json } = await explained(scan);
    expect(json.data.pipeline).toMatchObject([{ name: 'file-parser', summary: '2 PDFs are read', cost_usd: 0 }]);
    const ocr: OcrEngine = { nanoUsdPerPage: 1_000_000, read: () => Promise.reject(new Error('must not be called')) };
    const ocrPlugins = [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }];
    const dear = await explained({ ...scan, plugins: ocrPlugins }, { ocr, maxPages: 10 });
    expect(dear.json.data.pipeline).toMatchObject([{ data: { engine: 'mistral-ocr' }, cost_usd: 0.02 }]);
    expect((await explained({ ...scan, plugins: ocrPlugins })).status).toBe(400);
    expect((await explained(scan, { maxFiles: 1 })).json.error.message).toContain('expected at most 1 PDFs');
  });
});
