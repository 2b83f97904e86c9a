/** Requests and responses of providers in these tests are made after public descriptions: see test/support/images/wire.ts. */
import { createOpenAI } from '@ai-sdk/openai';
import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import {
  imagesEventSchema,
  imagesResultSchema,
  openaiImagesEventSchema,
  openaiImagesResultSchema,
} from '../../src/schema/images/result.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import {
  b64,
  completedEvent,
  fetchEvents,
  ofGemini,
  ofImagen,
  ofOpenAi,
  ofTogether,
  openaiUsage,
  partialB64,
  partialEvent,
} from '../support/images/wire.ts';

const asCaller = { authorization: `Bearer ${testKey}` };
const tokenPricing = { prompt: '0.000005', imageToken: '0.000008', imageOutput: '0.00003' };

function gateway(options: Partial<GatewayOptions> = {}) {
  const t = testGateway({
    providers: {
      openai: { apiKey: upstreamKeys.up },
      together: { apiKey: upstreamKeys.alt },
      'google-ai-studio': { apiKey: upstreamKeys.alt },
    },
    models: [
      {
        slug: 'openai/gpt-image-2',
        outputModalities: ['image'],
        endpoints: [{ provider: 'openai', model: 'gpt-image-2', pricing: tokenPricing }],
      },
      {
        slug: 'flux/schnell',
        outputModalities: ['image'],
        endpoints: [
          {
            provider: 'together',
            model: 'black-forest-labs/FLUX.1-schnell',
            pricing: { prompt: '0', outputMegapixel: '0.0027' },
          },
        ],
      },
      {
        slug: 'google/gemini-2.5-flash-image',
        outputModalities: ['text', 'image'],
        endpoints: [
          {
            provider: 'google-ai-studio',
            model: 'gemini-2.5-flash-image',
            pricing: { prompt: '0.0000003', completion: '0.0000025', imageOutput: '0.00003' },
          },
        ],
      },
      {
        slug: 'google/imagen-4',
        outputModalities: ['image'],
        endpoints: [
          { provider: 'google-ai-studio', model: 'imagen-4.0', pricing: { prompt: '0', outputImage: '0.04' } },
        ],
      },
    ],
    ...options,
  });
  const post = (path: string, body: object) => t.call('POST', path, body, asCaller);
  const send = (path: string, body: BodyInit, init: RequestInit = {}) =>
    t.gateway.fetch(
      new Request(`http://gateway.test/v1${path}`, {
        method: 'POST',
        headers: { ...asCaller, ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}) },
        body,
        ...init,
      }),
    );
  const stream = async (path: string, body: object) => {
    const response = await t.run(send(path, JSON.stringify({ stream: true, ...body })));
    const text = await t.run(response.text());
    return { response, events: fetchEvents(text) };
  };
  return { ...t, post, send, stream };
}

/** A budget, so that money is held. */
async function limited(t: ReturnType<typeof gateway>, usd = 50) {
  await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: usd });
}

const asked = { model: 'openai/gpt-image-2', prompt: 'An apple', size: '1024x1024', quality: 'high' };

describe('a chat model that draws, at a server like OpenAI’s', () => {
  it('is asked at /images/generations, and where it has none, is not asked in chat in its place', async () => {
    const draws = (tasks?: readonly string[]) =>
      testGateway({
        models: [
          {
            slug: 'acme/draws',
            outputModalities: ['text', 'image'],
            endpoints: [{ provider: 'up', model: 'draws', ...(tasks === undefined ? {} : { tasks }) }],
          },
        ],
      } as unknown as Partial<GatewayOptions>);
    const body = { model: 'acme/draws', prompt: 'x' };
    const open = draws();
    open.upstream.always({ body: ofOpenAi() });
    expect((await open.call('POST', '/images/generations', body, asCaller)).status).toBe(200);
    expect(open.upstream.sent.map(({ url }) => new URL(url).pathname)).toEqual(['/v1/images/generations']);
    const inChat = draws(['chat']);
    const { status, json } = await inChat.call('POST', '/images', body, asCaller);
    expect([status, json.error.metadata.excluded[0].filter]).toEqual([404, 'task']);
    expect(inChat.upstream.sent).toEqual([]);
  });
});

describe('POST /images/generations', () => {
  it('makes images at OpenAI, and books the tokens', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofOpenAi() });
    const { status, json } = await t.post('/images/generations', asked);
    expect(status).toBe(200);
    expect(openaiImagesResultSchema().parse(json)).toMatchObject({
      data: [{ b64_json: b64 }],
      size: '1024x1024',
      model: 'openai/gpt-image-2',
      usage: {
        input_tokens: 20,
        input_tokens_details: { text_tokens: 20, image_tokens: 0 },
        output_tokens: 4_160,
        output_tokens_details: { text_tokens: 0, image_tokens: 4_160 },
        total_tokens: 4_180,
        cost: 0.1249,
      },
    });
    expect(t.upstream.sent[0]?.url).toBe('https://api.openai.com/v1/images/generations');
    expect(t.upstream.sent[0]?.body).toEqual({
      model: 'gpt-image-2',
      prompt: 'An apple',
      size: '1024x1024',
      quality: 'high',
    });
    expect(t.records[0]).toMatchObject({ operation: 'createImages', costNanoUsd: 124_900_000, streamed: false });
  });

  it('passes every field of OpenAI on, and names those that have no effect', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofOpenAi() });
    const fields = {
      background: 'transparent',
      output_format: 'webp',
      output_compression: 80,
      moderation: 'low',
      safety_identifier: 'u1',
      complexity: 'low',
      frame_count: 3,
      frame_duration_ms: 100,
      svg: { model: 'gpt-6' },
      user: 'u2',
    };
    const { headers } = await t.post('/images/generations', {
      ...asked,
      ...fields,
      n: 1,
      response_format: 'url',
      style: 'vivid',
      seed: 1,
    });
    expect(t.upstream.sent[0]?.body).toEqual({
      model: 'gpt-image-2',
      prompt: 'An apple',
      size: '1024x1024',
      quality: 'high',
      ...fields,
    });
    expect(headers.get('x-service-dropped')?.split(', ').sort()).toEqual(['response_format', 'seed', 'style']);
  });

  it('makes images at Together by sides, and books the megapixels', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofTogether });
    const { json } = await t.post('/images/generations', {
      model: 'flux/schnell',
      prompt: 'An apple',
      size: '1024x1024',
      response_format: 'b64_json',
      negative_prompt: 'worms',
      seed: 7,
    });
    expect(openaiImagesResultSchema().parse(json)).toMatchObject({
      data: [{ b64_json: b64 }],
      usage: { cost: 0.0054 },
    });
    expect(t.upstream.sent[0]?.body).toEqual({
      model: 'black-forest-labs/FLUX.1-schnell',
      prompt: 'An apple',
      width: 1024,
      height: 1024,
      response_format: 'base64',
      negative_prompt: 'worms',
      seed: 7,
    });
  });

  it('makes each image of Gemini by a request, and joins them', async () => {
    const t = gateway();
    t.upstream.always({ body: ofGemini });
    const { json, headers } = await t.post('/images/generations', {
      model: 'google/gemini-2.5-flash-image',
      prompt: 'An apple',
      size: '1536x864',
      n: 2,
      quality: 'high',
    });
    expect(openaiImagesResultSchema().parse(json)).toMatchObject({
      data: [{ b64_json: b64 }, { b64_json: b64 }],
      usage: { input_tokens: 18, output_tokens: 2_580, output_tokens_details: { image_tokens: 2_580 } },
    });
    expect(json.usage.cost).toBeCloseTo(18 * 0.0000003 + 2_580 * 0.00003, 9);
    expect(t.upstream.sent).toHaveLength(2);
    expect(t.upstream.sent[0]?.url).toMatch(/\/models\/gemini-2\.5-flash-image:generateContent$/);
    expect(t.upstream.sent[0]?.body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'An apple' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9' } },
    });
    expect(headers.get('x-service-dropped')).toBe('size, quality');
  });

  it('makes images of Imagen by predict, and books each', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofImagen });
    const { json } = await t.post('/images/generations', { model: 'google/imagen-4', prompt: 'An apple', n: 2 });
    expect(json).toMatchObject({ data: [{ b64_json: b64 }, { b64_json: b64 }], usage: { cost: 0.08 } });
    expect(t.upstream.sent[0]?.url).toMatch(/\/models\/imagen-4\.0:predict$/);
    expect(t.upstream.sent[0]?.body).toEqual({
      instances: [{ prompt: 'An apple' }],
      parameters: { sampleCount: 2 },
    });
  });

  it('books the images that came where there are fewer than were asked for', async () => {
    const t = gateway();
    t.upstream.answer({ body: { predictions: ofImagen.predictions.slice(0, 1) } });
    const { json } = await t.post('/images/generations', { model: 'google/imagen-4', prompt: 'An apple', n: 2 });
    expect([json.data.length, json.usage.cost]).toEqual([1, 0.04]);
  });

  it('refuses a refusal of the content as the request’s own fault, for nothing', async () => {
    const t = gateway();
    t.upstream.always({ body: { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } } });
    const { status, json } = await t.post('/images/generations', {
      model: 'google/gemini-2.5-flash-image',
      prompt: 'Something bad',
    });
    expect([status, json.error.metadata.error_type]).toEqual([400, 'content_policy_violation']);
    expect(t.records[0]).toMatchObject({ costNanoUsd: 0 });
  });

  it('is explained without a call', async () => {
    const t = gateway();
    const { status, json } = await t.post('/images/generations/explain', asked);
    expect([status, json.data.candidates?.length ?? json.data, t.upstream.sent]).toEqual([200, 1, []]);
  });

  it('is not for a model of another task, nor is a model of images alone for chat', async () => {
    const t = gateway();
    const chat = await t.post('/chat/completions', {
      model: 'openai/gpt-image-2',
      messages: [{ role: 'user', content: 'x' }],
    });
    const embed = await t.post('/embeddings', { model: 'openai/gpt-image-2', input: 'x' });
    expect([chat.status, embed.status, t.upstream.sent]).toEqual([404, 404, []]);
  });

  it.each([
    [{ prompt: '' }, 'prompt'],
    [{ n: 11 }, 'n'],
    [{ size: 'large' }, 'size'],
    [{ partial_images: 2 }, 'partial_images'],
    [{ stream: true, response_format: 'url' }, 'response_format'],
    [{ steps: 50 }, 'steps'],
  ])('refuses %j', async (fields, path) => {
    const t = gateway();
    const { status, json } = await t.post('/images/generations', { ...asked, ...fields });
    expect([status, json.error.metadata.issues[0].path, t.upstream.sent]).toEqual([400, path, []]);
  });
});

describe('a stream of images', () => {
  it('passes intermediate images on as they come, and has the usage at its end', async () => {
    const t = gateway();
    let more: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      more = resolve;
    });
    t.upstream.answer({ body: [partialEvent(0), { until }, completedEvent()] });
    const response = await t.run(
      t.send('/images/generations', JSON.stringify({ ...asked, stream: true, partial_images: 1 })),
    );
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = new TextDecoder().decode((await t.run(reader.read())).value);
    expect(fetchEvents(first)).toMatchObject([
      { type: 'image_generation.partial_image', b64_json: partialB64, partial_image_index: 0 },
    ]);
    more();
    let rest = '';
    for (let next = await t.run(reader.read()); !next.done; next = await t.run(reader.read()))
      rest += new TextDecoder().decode(next.value);
    expect(rest).not.toContain('[DONE]');
    expect(rest).toMatch(/^event: image_generation\.completed\n/);
    const events = fetchEvents(first + rest).map((event) => openaiImagesEventSchema().parse(event));
    expect(events).toMatchObject([{}, { type: 'image_generation.completed', usage: { cost: 0.1249 } }]);
    expect(t.upstream.sent[0]?.body).toMatchObject({ stream: true, partial_images: 1 });
    expect(t.records[0]).toMatchObject({ streamed: true, outcome: 'ok', costNanoUsd: 124_900_000 });
  });

  it('is made of JSON where the provider streams none', async () => {
    const t = gateway();
    t.upstream.always({ body: ofGemini });
    const { response, events } = await t.stream('/images/generations', {
      model: 'google/gemini-2.5-flash-image',
      prompt: 'x',
      n: 2,
      partial_images: 2,
    });
    expect(events).toMatchObject([
      { type: 'image_generation.completed', b64_json: b64, usage: { total_tokens: 0 } },
      { type: 'image_generation.completed', b64_json: b64, usage: { total_tokens: 2_598 } },
    ]);
    expect(response.headers.get('x-service-dropped')).toContain('partial_images');
  });

  it('adds up the reports of several images, and shows them with the last', async () => {
    const t = gateway();
    t.upstream.answer({ body: [completedEvent(), completedEvent()] });
    const { events } = await t.stream('/images/generations', { ...asked, n: 2 });
    expect(events).toMatchObject([
      { usage: { total_tokens: 0 } },
      { usage: { output_tokens: 8_320, total_tokens: 8_360, cost: 0.2498 } },
    ]);
  });

  it('that is cut has an error event and no completed one, and is booked at its bound', async () => {
    const t = gateway();
    await limited(t);
    t.upstream.answer({ body: [partialEvent(0), { breaks: true }] });
    const { events } = await t.stream('/images/generations', { ...asked, partial_images: 1 });
    expect(events.map((event) => (event as { type: string }).type)).toEqual([
      'image_generation.partial_image',
      'error',
    ]);
    const [record] = t.records;
    expect(record).toMatchObject({ outcome: 'cut', overrunNanoUsd: 0 });
    expect(record?.costNanoUsd).toBe(record?.heldNanoUsd);
    expect(record?.costNanoUsd).toBeGreaterThan(124_900_000);
  });

  it('that ends without its image is cut', async () => {
    const t = gateway();
    t.upstream.answer({ body: [partialEvent(0)] });
    const { events } = await t.stream('/images/generations', { ...asked, partial_images: 1 });
    expect(events.at(-1)).toMatchObject({ type: 'error' });
    expect(t.records[0]).toMatchObject({ outcome: 'cut' });
  });

  it('that fails before its first event is asked for elsewhere, or is an ordinary error', async () => {
    const t = gateway();
    t.upstream.always({
      body: [
        `data: ${JSON.stringify({ type: 'error', error: { message: 'Blocked', code: 'moderation_blocked' } })}\n\n`,
      ],
    });
    const response = await t.run(t.send('/images/generations', JSON.stringify({ ...asked, stream: true })));
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.get('content-type')).toBe('application/json');
    await t.run(response.text());
  });

  it('that the client leaves stops the provider, and is booked once at its bound', async () => {
    const t = gateway();
    await limited(t);
    t.upstream.answer({ body: [partialEvent(0), { hangs: true }] });
    const controller = new AbortController();
    const response = await t.run(
      t.send('/images/generations', JSON.stringify({ ...asked, stream: true, partial_images: 1 }), {
        signal: controller.signal,
      }),
    );
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await t.run(reader.read());
    controller.abort();
    await t.run(reader.read().catch(() => undefined));
    expect(t.upstream.sent[0]?.closedAtMs).not.toBeNull();
    expect(t.records).toMatchObject([{ outcome: 'cancelled', status: 499 }]);
    expect(t.records[0]?.costNanoUsd).toBe(t.records[0]?.heldNanoUsd);
  });

  it('waits for a slow image longer than for a token', async () => {
    const t = gateway({ timeouts: { idleMs: 1_000, firstEventMs: 100_000 } });
    t.upstream.answer({ body: [partialEvent(0), { waitMs: 90_000 }, completedEvent()] });
    const { events } = await t.stream('/images/generations', { ...asked, partial_images: 1 });
    expect(events.at(-1)).toMatchObject({ type: 'image_generation.completed' });
  });

  it('says so where the first event takes long, and fails inside the stream after that', async () => {
    const t = gateway({ keepAlive: { firstMs: 1_000, everyMs: 1_000 } });
    t.upstream.always({ status: 400, body: { error: { message: 'No' } }, afterMs: 5_000 });
    const response = await t.run(t.send('/images/generations', JSON.stringify({ ...asked, stream: true })));
    const text = await t.run(response.text());
    expect(text).toMatch(/^: keep-alive\n\n/);
    expect(fetchEvents(text)).toMatchObject([{ type: 'error', error: { code: 400 } }]);
    expect(t.records[0]).toMatchObject({ outcome: 'failed', status: 400, costNanoUsd: 0 });
  });
});

describe('a large response', () => {
  it('may have a usual size for each image that was asked for, and no more', async () => {
    const t = gateway({ limits: { upstreamBodyBytes: 2_000 } });
    const large = { ...ofOpenAi(3), data: Array.from({ length: 3 }, () => ({ b64_json: 'a'.repeat(1_500) })) };
    t.upstream.answer({ body: large });
    expect((await t.post('/images/generations', { ...asked, n: 3 })).status).toBe(200);
    t.upstream.always({ body: large });
    expect((await t.post('/images/generations', asked)).status).toBe(502);
  });
});

describe('the route of a call', () => {
  it('is in the response, and in the last event of a stream', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofOpenAi() }, { body: [completedEvent(), completedEvent()] });
    const headers = { ...asCaller, 'x-service-metadata': 'enabled' };
    const { json } = await t.call('POST', '/images/generations', asked, headers);
    expect(json.service_metadata).toMatchObject({ attempt: 1 });
    const body = JSON.stringify({ ...asked, n: 2, stream: true });
    const init = { headers: { ...headers, 'content-type': 'application/json' } };
    const response = await t.run(t.send('/images/generations', body, init));
    const events = fetchEvents(await t.run(response.text()));
    expect(events).toMatchObject([{}, { service_metadata: { attempt: 1 } }]);
    expect(events[0]).not.toHaveProperty('service_metadata');
  });
});

describe('POST /images/edits', () => {
  const png = new Uint8Array([137, 80, 78, 71, 1, 2, 3]);
  const formOf = (fields: Record<string, string>, images = 1) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (let at = 0; at < images; at++)
      form.append(images === 1 ? 'image' : 'image[]', new Blob([png], { type: 'image/png' }), `pic${at}.png`);
    return form;
  };
  /** The form that a provider got. */
  const sentForm = async (raw: { headers: Record<string, string>; bytes: Uint8Array } | undefined) => {
    const { headers, bytes } = raw as { headers: Record<string, string>; bytes: Uint8Array<ArrayBuffer> };
    return new Response(bytes, { headers: { 'content-type': headers['content-type'] as string } }).formData();
  };
  function withForms() {
    const raw: { headers: Record<string, string>; bytes: Uint8Array }[] = [];
    const t = gateway();
    const real = t.upstream.transport.send.bind(t.upstream.transport);
    t.upstream.transport.send = (request) => {
      const isForm = request.body instanceof Uint8Array;
      if (isForm) raw.push({ headers: request.headers, bytes: request.body as Uint8Array });
      return real(isForm ? { ...request, body: '{}' } : request);
    };
    return { t, raw };
  }

  it('sends the files of a form on as a form, made anew for each attempt', async () => {
    const { t, raw } = withForms();
    t.upstream.answer({ status: 500, body: {} }, { body: ofOpenAi() });
    const form = formOf(
      { model: 'openai/gpt-image-2', prompt: 'A hat', n: '1', quality: 'low', input_fidelity: 'high' },
      2,
    );
    form.append('mask', new Blob([png], { type: 'image/png' }), 'mask.png');
    const response = await t.run(t.send('/images/edits', form));
    const json = await t.run(response.json());
    expect([response.status, json]).toMatchObject([200, { data: [{ b64_json: b64 }] }]);
    expect(raw).toHaveLength(2);
    const sent = await sentForm(raw[1]);
    expect(sent.get('model')).toBe('gpt-image-2');
    expect([sent.get('prompt'), sent.get('quality'), sent.get('input_fidelity')]).toEqual(['A hat', 'low', 'high']);
    const files = sent.getAll('image[]') as File[];
    expect(files.map(({ name, type }) => [name, type])).toEqual([
      ['pic0.png', 'image/png'],
      ['pic1.png', 'image/png'],
    ]);
    expect(new Uint8Array(await (files[0] as File).arrayBuffer())).toEqual(png);
    expect((sent.get('mask') as File).name).toBe('mask.png');
    expect(t.upstream.sent[0]?.url).toBe('https://api.openai.com/v1/images/edits');
    expect(t.records[0]).toMatchObject({ operation: 'editImages', promptMedia: { files: 3, audio: 0 } });
  });

  it('takes references in JSON: data URLs as files, other addresses as they are', async () => {
    const { t, raw } = withForms();
    t.upstream.always({ body: ofOpenAi() });
    const one = await t.post('/images/edits', {
      model: 'openai/gpt-image-2',
      prompt: 'A hat',
      images: [{ image_url: 'data:image/webp;base64,AQID' }],
    });
    expect(one.status).toBe(200);
    const file = (await sentForm(raw[0])).get('image') as File;
    expect([file.type, file.name, file.size]).toEqual(['image/webp', 'image.webp', 3]);
    const two = await t.post('/images/edits', {
      model: 'openai/gpt-image-2',
      prompt: 'A hat',
      images: [{ image_url: 'https://pics.test/a.png' }],
    });
    expect(two.status).toBe(200);
    expect(t.upstream.sent[1]?.body).toMatchObject({ images: [{ image_url: 'https://pics.test/a.png' }] });
  });

  it('gives pictures to Gemini within the request, and refuses what it cannot take', async () => {
    const t = gateway();
    t.upstream.always({ body: ofGemini });
    const body = {
      model: 'google/gemini-2.5-flash-image',
      prompt: 'A hat',
      images: [{ image_url: 'data:image/png;base64,AQID' }],
    };
    expect((await t.post('/images/edits', body)).status).toBe(200);
    expect(t.upstream.sent[0]?.body).toMatchObject({
      contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'AQID' } }, { text: 'A hat' }] }],
    });
    const elsewhere = await t.post('/images/edits', { ...body, images: [{ image_url: 'https://pics.test/a.png' }] });
    expect([elsewhere.status, elsewhere.json.error.message]).toEqual([
      400,
      'images[0]: expected a file, or a data URL',
    ]);
    const masked = await t.post('/images/edits', { ...body, mask: { image_url: 'data:image/png;base64,AQID' } });
    expect([masked.status, masked.json.error.message]).toEqual([400, 'mask: expected none: it takes no mask']);
  });

  it('refuses no pictures, too many, and files in JSON', async () => {
    const t = gateway();
    const none = await t.post('/images/edits', { model: 'openai/gpt-image-2', prompt: 'A hat' });
    expect([none.status, none.json.error.metadata.issues[0].path]).toEqual([400, 'image']);
    const many = await t.run(t.send('/images/edits', formOf({ model: 'openai/gpt-image-2', prompt: 'x' }, 17)));
    expect(many.status).toBe(400);
    await t.run(many.text());
    const file = { name: 'x', type: null, size: 1, chunks: [[1]] };
    expect((await t.post('/images/edits', { model: 'openai/gpt-image-2', prompt: 'x', image: file })).status).toBe(400);
    expect(t.upstream.sent).toEqual([]);
  });

  it('streams with events of its own', async () => {
    const { t } = withForms();
    t.upstream.answer({ body: [partialEvent(0, 'image_edit'), completedEvent(openaiUsage, 'image_edit')] });
    const form = formOf({ model: 'openai/gpt-image-2', prompt: 'A hat', stream: 'true', partial_images: '1' });
    const response = await t.run(t.send('/images/edits', form));
    const events = fetchEvents(await t.run(response.text())).map((event) => openaiImagesEventSchema().parse(event));
    expect(events.map(({ type }) => type)).toEqual(['image_edit.partial_image', 'image_edit.completed']);
  });
});

describe('POST /images', () => {
  it('has the shape of the public service', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofOpenAi() });
    const { status, json } = await t.post('/images', {
      model: 'openai/gpt-image-2',
      prompt: 'An apple',
      resolution: '2K',
      aspect_ratio: '16:9',
    });
    expect(status).toBe(200);
    expect(imagesResultSchema().parse(json)).toMatchObject({
      data: [{ b64_json: b64, media_type: 'image/png' }],
      usage: { prompt_tokens: 20, completion_tokens: 4_160, total_tokens: 4_180, cost: 0.1249 },
    });
    expect(t.upstream.sent[0]?.body).toEqual({ model: 'gpt-image-2', prompt: 'An apple', size: '2736x1536' });
  });

  it('gives references as pictures to work from', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofTogether });
    const { status } = await t.post('/images', {
      model: 'flux/schnell',
      prompt: 'A hat',
      input_references: [{ type: 'image_url', image_url: { url: 'https://pics.test/a.png' } }],
      size: '1K',
      aspect_ratio: '1:1',
    });
    expect([status, t.upstream.sent[0]?.body]).toMatchObject([
      200,
      { reference_images: ['https://pics.test/a.png'], width: 1024, height: 1024, response_format: 'base64' },
    ]);
  });

  it('streams in events that end with [DONE]', async () => {
    const t = gateway();
    t.upstream.answer({ body: [partialEvent(0), completedEvent()] });
    const { events } = await t.stream('/images', { model: 'openai/gpt-image-2', prompt: 'x' });
    expect(events.at(-1)).toBe('[DONE]');
    expect(events.slice(0, -1).map((event) => imagesEventSchema().parse(event))).toMatchObject([
      { type: 'image_generation.partial_image', partial_image_index: 0, b64_json: partialB64 },
      {
        type: 'image_generation.completed',
        b64_json: b64,
        media_type: 'image/png',
        usage: { prompt_tokens: 20, cost: 0.1249 },
      },
    ]);
  });

  it('is all or nothing: without images a 502, and nothing is booked where the provider says that it failed', async () => {
    const t = gateway();
    await limited(t);
    t.upstream.always({ status: 500, body: { error: { message: 'cancelled' } } });
    const { status } = await t.post('/images', { model: 'openai/gpt-image-2', prompt: 'x' });
    expect([status, t.records[0]?.costNanoUsd]).toEqual([502, 0]);
    t.upstream.always({ body: { created: 1, data: [] } });
    expect((await t.post('/images', { model: 'openai/gpt-image-2', prompt: 'x' })).status).toBe(502);
  });

  it.each([
    [{ size: '1024x1024', resolution: '2K' }, 'resolution'],
    [{ size: '1024x1024', aspect_ratio: '16:9' }, 'aspect_ratio'],
    [{ size: '1K', resolution: '2K' }, 'size'],
    [{ aspect_ratio: '7:5' }, 'aspect_ratio'],
  ])('refuses the contradiction %j', async (fields, path) => {
    const t = gateway();
    const { status, json } = await t.post('/images', { model: 'openai/gpt-image-2', prompt: 'x', ...fields });
    expect([status, json.error.metadata.issues[0].path, t.upstream.sent]).toEqual([400, path, []]);
  });
});

describe('clients of images', () => {
  it('are openai itself, for images, edits and streams', async () => {
    const t = testGateway({ providers: { sandbox: {} }, models: [] });
    const client = new OpenAI(t.gateway.clientOptions());
    const made = await t.run(client.images.generate({ model: 'sandbox/image', prompt: 'An apple', n: 2 }));
    expect([made.data?.length, made.usage?.output_tokens]).toEqual([2, 2_112]);
    const image = await toFile(new Uint8Array([1, 2, 3]), 'a.png', { type: 'image/png' });
    const edited = await t.run(client.images.edit({ model: 'sandbox/image', prompt: 'A hat', image: [image, image] }));
    expect(edited.usage).toMatchObject({ input_tokens_details: { image_tokens: 600 } });
    const types: string[] = [];
    const read = async () => {
      const stream = await client.images.generate({
        model: 'sandbox/image',
        prompt: 'x',
        stream: true,
        partial_images: 2,
      });
      for await (const event of stream) types.push(event.type);
    };
    await t.run(read());
    expect(types).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    const broken = async () => {
      const stream = await client.images.generate({ model: 'sandbox/error-mid-stream', prompt: 'x', stream: true });
      for await (const _ of stream);
    };
    await expect(t.run(broken())).rejects.toThrow('The sandbox breaks off here');
  });

  it('are the image model of the AI SDK, with pictures to work from', async () => {
    const t = testGateway({ providers: { sandbox: {} }, models: [] });
    const { baseURL, apiKey, fetch } = t.gateway.clientOptions();
    const model = createOpenAI({ baseURL, apiKey, fetch: fetch as typeof globalThis.fetch }).image('sandbox/image');
    const options = {
      prompt: 'An apple',
      n: 1,
      size: '1024x1024' as const,
      aspectRatio: undefined,
      seed: undefined,
      files: undefined,
      mask: undefined,
      providerOptions: {},
    };
    const made = await t.run(Promise.resolve(model.doGenerate(options)));
    expect(made.images).toEqual([expect.stringMatching(/^iVBOR/)]);
    expect(made.usage).toMatchObject({ outputTokens: 1_056 });
    const file = { type: 'file' as const, mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) };
    const edited = await t.run(Promise.resolve(model.doGenerate({ ...options, files: [file] })));
    expect([edited.images.length, t.records.at(-1)?.operation]).toEqual([1, 'editImages']);
  });

  it('are shown models of images in the listing', async () => {
    const t = gateway();
    const { json } = await t.call('GET', '/models?output_modalities=image', undefined, asCaller);
    expect(json.data.map(({ id }: { id: string }) => id)).toContain('google/imagen-4');
    const shown = json.data.find(({ id }: { id: string }) => id === 'google/imagen-4');
    expect(shown.pricing).toMatchObject({ output_image: '0.04' });
  });
});

describe('images in process', () => {
  const open = () => testGateway({ providers: { sandbox: {} }, models: [] });

  it('are made and edited, as JSON and as a stream', async () => {
    const t = open();
    const made = await t.run(t.gateway.images.generate({ model: 'sandbox/image', prompt: 'An apple', n: 2 }));
    expect([made.data.length, made.usage.output_tokens]).toEqual([2, 2_112]);
    const image = new File([new Uint8Array([1, 2, 3])], 'a.png', { type: 'image/png' });
    const bytes = await image.bytes();
    const streamed = new Blob([bytes]).stream() as unknown as AsyncIterable<Uint8Array>;
    const pictures = [image, bytes, bytes.buffer, new Response(bytes), streamed];
    const edited = await t.run(t.gateway.images.edit({ model: 'sandbox/image', prompt: 'A hat', image: pictures }));
    expect(edited.usage.input_tokens_details.image_tokens).toBe(5 * 300);
    const shaped = await t.run(t.gateway.images.create({ model: 'sandbox/image', prompt: 'x' }));
    expect(shaped.data[0]?.media_type).toBe('image/png');
    const types: string[] = [];
    const read = async () => {
      for (const ask of [
        t.gateway.images.generate({ model: 'sandbox/image', prompt: 'x', stream: true, partial_images: 1 }),
        t.gateway.images.create({ model: 'sandbox/image', prompt: 'x', stream: true }),
      ])
        for await (const event of await ask) types.push(event.type);
    };
    await t.run(read());
    expect(types).toEqual([
      'image_generation.partial_image',
      'image_generation.completed',
      'image_generation.completed',
    ]);
  });

  it('throw where a stream is cut', async () => {
    const t = open();
    const read = async () => {
      const stream = await t.gateway.images.generate({ model: 'sandbox/cut-stream', prompt: 'x', stream: true });
      for await (const _ of stream);
    };
    await expect(t.run(read())).rejects.toThrow('The provider broke off its response.');
  });
});
