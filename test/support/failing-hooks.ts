import { GatewayError } from '../../src/base/errors.ts';
import type { PluginHooks, ResponseStep } from '../../src/call/hooks.ts';
import type { ChatChunk } from '../../src/schema/chat/chunk.ts';
import { askResponses, streamResponses } from './ask-responses.ts';
import { hello, type TestGateway } from './gateway.ts';

/** How a hook fails. */
export type Failure = 'throw' | 'hang' | 'refuse';
/** What a client asks for. */
export const formats = ['JSON', 'a stream', 'Responses', 'a stream of Responses'] as const;
export type Format = (typeof formats)[number];

export const secretText = 'secret details';

/** @throws what the hook fails with; or never comes to an end */
export function fail(how: Failure): Promise<never> {
  if (how === 'throw') throw new Error(secretText);
  if (how === 'refuse') throw new GatewayError('permission_denied', 'Not on Sundays');
  return new Promise(() => undefined);
}

/** Hooks of which one fails before it has done anything. */
export function failingHooks(name: string, how: Failure): PluginHooks {
  const step = (own: Partial<ResponseStep>): PluginHooks => ({
    steps: () => [{ isAsync: true, push: (one) => [one], ...own }],
  });
  switch (name) {
    case 'before':
      return { before: () => fail(how) };
    case 'prepare':
      return { prepare: () => fail(how) };
    case 'wrap':
      return { wrap: async () => fail(how) };
    case 'steps':
      return { steps: () => fail(how) as never };
    case 'push':
      return step({ push: () => fail(how) });
    case 'end':
      return step({ end: () => fail(how) });
    default:
      throw new Error(`No hook ${name}`);
  }
}

export const textOfChunk = ({ choices }: ChatChunk): string => choices[0]?.delta.content ?? '';

/** The chunk with another text. */
export const withText = (one: ChatChunk, content: string): ChatChunk => ({
  ...one,
  choices: one.choices.map((choice) => ({ ...choice, delta: { ...choice.delta, content } })),
});

/** What a client got, in whatever format: its text, whether it was told of an error, and all that was sent. */
export interface Got {
  text: string;
  hasError: boolean;
  sent: string;
  pipeline: { name: string; summary?: string; data?: Record<string, unknown> }[];
}

/** Asks for a response in a format, and reads it to its end. */
export async function askIn(format: Format, test: TestGateway, fields: object = {}): Promise<Got> {
  const shown = { 'x-service-metadata': 'enabled' };
  const body = { model: 'acme/pair', ...fields };
  if (format === 'JSON' || format === 'a stream') {
    const stream = format === 'a stream';
    const answer = await test.post({ ...body, messages: hello, max_tokens: 100, stream }, shown);
    const { chunks, json } = answer;
    const whole = stream && chunks.length > 0;
    const metadata = (whole ? chunks.at(-1)?.service_metadata : json?.service_metadata) as Metadata;
    return {
      text: whole ? chunks.map(textOfChunk).join('') : String(json.choices?.[0]?.message.content ?? ''),
      hasError: whole ? chunks.some(({ error }) => error !== undefined) : json.error !== undefined,
      sent: answer.text,
      pipeline: metadata?.pipeline ?? [],
    };
  }
  if (format === 'Responses') {
    const { json, text } = await askResponses(test, { ...body, input: 'Hello' }, shown);
    return {
      text: outputTextOf(json),
      hasError: json.status !== 'completed',
      sent: text,
      pipeline: json.service_metadata?.pipeline ?? [],
    };
  }
  const { text } = await streamResponses(test, { ...body, input: 'Hello' }, shown);
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));
  const last = events.at(-1) ?? {};
  return {
    text: events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join(''),
    hasError: last.type !== 'response.completed',
    sent: text,
    pipeline: last.response?.service_metadata?.pipeline ?? [],
  };
}

type Metadata = { pipeline?: Got['pipeline'] } | undefined;

function outputTextOf(response: { output?: { content?: { text?: string }[] }[] }): string {
  return (response.output ?? [])
    .flatMap(({ content }) => content ?? [])
    .map(({ text }) => text ?? '')
    .join('');
}
