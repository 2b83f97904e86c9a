import process from 'node:process';
import { apiKey, chatEvents, chatRequest } from './bodies.ts';
import { loadBuilt } from './built.ts';
import { measuring, serveParent } from './control.ts';
import { median, medianRatio } from './statistics.ts';

/** Measures streams of Messages and of Gemini to providers that speak them, beside one of chat completions that passes through. */

/** CPU of one more event in a stream, each event in its own chunk, in microseconds. */
export interface MessagesCosts {
  messagesUs: number;
  geminiUs: number;
  chatUs: number;
  /** The median of the ratios of Messages to chat completions within each round. */
  ratio: number;
  /** The same of Gemini. */
  geminiRatio: number;
}

type Wire = 'messages' | 'gemini' | 'chat';

const rounds = 12;
const callsPerRound = 20;
/** Further events in the longer stream. The difference between the two streams gives the cost of an event. */
const more = 900;

const eventOf = (data: { type: string }): Buffer =>
  Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
const delta = (text: string): Buffer =>
  eventOf({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as never);
const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', content: [] };
const messagesStart = [
  { type: 'message_start', message: { ...head, usage: { input_tokens: 412, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
].map(eventOf);
const messagesEnd = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 98 } },
  { type: 'message_stop' },
].map(eventOf);
const geminiEvent = (text: string, at: number, more: object = {}): Buffer =>
  Buffer.from(
    `data: ${JSON.stringify({
      candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
      usageMetadata: { promptTokenCount: 412, candidatesTokenCount: at, totalTokenCount: 412 + at },
      modelVersion: 'gemini-3.8-flash',
      responseId: 'aKpraf_7DdWe28oP2rXQwA8',
    })}\r\n\r\n`,
  );
const chat = chatEvents.map((event) => Buffer.from(event));
const words = [' the', ' valley', ' of', ' Aosta', ',', ' château', ' "quiet"', '.\n'];

function streamOf(wire: Wire, further: number): readonly Uint8Array[] {
  if (wire === 'messages') {
    const texts = Array.from({ length: 95 + further }, (_, at) => delta(words[at % words.length] as string));
    return [...messagesStart, ...texts, ...messagesEnd];
  }
  if (wire === 'gemini') {
    const texts = Array.from({ length: 99 + further }, (_, at) => geminiEvent(words[at % words.length] as string, at));
    return [...texts, geminiEvent('', 99 + further, { finishReason: 'STOP' })];
  }
  const middle = chat.slice(1, -3);
  const extra = Array.from({ length: further }, (_, at) => middle[at % middle.length] as Buffer);
  return [...chat.slice(0, -3), ...extra, ...chat.slice(-3)];
}

let chunks: readonly Uint8Array[] = [];

const { createGateway } = await loadBuilt();
const gateway = createGateway({
  apiKeys: [{ key: apiKey }],
  providers: {
    north: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'key-of-north' },
    south: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'key-of-south', dialect: 'anthropic-messages' },
    west: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'key-of-west', dialect: 'google-generate-content' },
  },
  models: [
    { slug: 'bench/model-25', endpoints: [{ provider: 'north', model: 'bench-model' }] },
    { slug: 'bench/claude', endpoints: [{ provider: 'south', model: 'claude-sonnet-4-6' }] },
    { slug: 'bench/gemini', endpoints: [{ provider: 'west', model: 'gemini-3.8-flash' }] },
  ],
  transport: {
    async send() {
      let at = 0;
      const given = chunks;
      const body = { read: async () => given[at++] ?? null, cancel: () => undefined };
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
    },
  },
});

const requests: Record<Wire, { path: string; body: string }> = {
  chat: { path: '/v1/chat/completions', body: chatRequest({ stream: true }) },
  messages: {
    path: '/v1/messages',
    body: JSON.stringify({
      model: 'bench/claude',
      max_tokens: 400,
      stream: true,
      messages: [{ role: 'user', content: 'Which two places would you suggest, and why?' }],
    }),
  },
  gemini: {
    path: '/v1beta/models/bench/gemini:streamGenerateContent?alt=sse',
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Which two places would you suggest?' }] }] }),
  },
};

async function ask(wire: Wire): Promise<void> {
  const { path, body } = requests[wire];
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` };
  const response = await gateway.fetch(new Request(`http://127.0.0.1${path}`, { method: 'POST', headers, body }));
  if (response.status !== 200) throw new Error(await response.text());
  let bytes = 0;
  for await (const chunk of response.body as ReadableStream<Uint8Array>) bytes += chunk.length;
  if (bytes < 5000) throw new Error(`a stream of ${bytes} bytes`);
}

async function cpuOf(wire: Wire, further: number): Promise<number> {
  chunks = streamOf(wire, further);
  const start = process.cpuUsage();
  for (let done = 0; done < callsPerRound; done++) await ask(wire);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / callsPerRound;
}

async function perEvent(wire: Wire): Promise<number> {
  const short = await cpuOf(wire, 0);
  return ((await cpuOf(wire, more)) - short) / more;
}

async function measure(): Promise<MessagesCosts> {
  const us: Record<Wire, number[]> = { messages: [], gemini: [], chat: [] };
  // The rounds below 0 are a warm-up.
  for (let round = -rounds; round < rounds; round++)
    for (const wire of ['messages', 'gemini', 'chat'] as const) {
      const cost = await perEvent(wire);
      if (round >= 0) us[wire].push(cost);
    }
  return {
    messagesUs: median(us.messages),
    geminiUs: median(us.gemini),
    chatUs: median(us.chat),
    ratio: medianRatio(us.messages, us.chat),
    geminiRatio: medianRatio(us.gemini, us.chat),
  };
}

serveParent({ ...measuring, port: () => 0, measure });
