import { anthropicMessages } from '../../src/dialects/anthropic-messages/index.ts';
import { bedrockConverse } from '../../src/dialects/bedrock-converse/index.ts';
import { cohereChat } from '../../src/dialects/cohere-chat/index.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { googleGenerateContent } from '../../src/dialects/google-generate-content/index.ts';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { openaiResponses } from '../../src/dialects/openai-responses/index.ts';
import { defineProvider, type Provider } from '../../src/providers/provider.ts';
import { eventFrame } from './converse-wire.ts';
import { type FrameLines, loadRecordings, type Recording } from './recordings.ts';

/** A wire format that was recorded, and the provider that speaks it. */
export interface RecordedFormat {
  /** Name of the dialect in the manifest of the recordings. */
  name: string;
  provider: Provider;
  /** Puts the framing back that the lines of a file were stripped of. Default: that of chat completions. */
  frame: FrameLines | undefined;
}

type Json = Record<string, unknown>;

const namedEvents: FrameLines = (lines) => [
  lines.map((line) => `event: ${(JSON.parse(line) as Json).type}\ndata: ${line}\n\n`).join(''),
];

/** Each line is an event in an object of its name. */
const converseFrames: FrameLines = (lines) => {
  const frames = lines.map((line) => eventFrame(...(Object.entries(JSON.parse(line) as Json)[0] as [string, unknown])));
  return [new Uint8Array(Buffer.concat(frames))];
};

/** Not our own wire format to the gateway, so that usage is estimated where it is for a response: from the chunks. */
const decodedChat = { ...openaiChat, format: undefined };

function format(name: string, dialect: Dialect, frame?: FrameLines): RecordedFormat {
  const provider = defineProvider({ slug: 'replay', baseUrl: 'http://replay.invalid/v1', dialect });
  return { name, provider, frame };
}

/** The recorded formats that are not Responses. */
export const chatFormats: readonly RecordedFormat[] = [
  format('openai-chat', decodedChat),
  format('openrouter-chat', decodedChat),
  format('mistral-chat', decodedChat),
  format('anthropic-messages', anthropicMessages, namedEvents),
  format('google-generate-content', googleGenerateContent, (lines) => [
    lines.map((line) => `data: ${line}\r\n\r\n`).join(''),
  ]),
  format('bedrock-converse', bedrockConverse, converseFrames),
  format('cohere-v2-chat', cohereChat, namedEvents),
];

/** Each event has its name. Some files hold several streams, one after another. */
const responsesStreams: FrameLines = (lines) => {
  const streams: string[] = [];
  for (const data of lines) {
    const { type } = JSON.parse(data) as { type: string };
    if (type === 'response.created') streams.push('');
    streams.push(`${streams.pop() ?? ''}event: ${type}\ndata: ${data}\n\n`);
  }
  return streams;
};

export const responsesFormat = format('openai-responses', openaiResponses, responsesStreams);

/** All recordings of a format. */
export function recordingsOf({ name, frame }: RecordedFormat): Recording[] {
  return loadRecordings(name, frame);
}
