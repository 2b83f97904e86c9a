import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sharedPath } from './reference.ts';

/** One recorded answer of a real provider, with its wire framing put back. */
export interface Recording {
  /** Path of the file in the folder of recordings; of the exchange, where its body is in a file of its own. */
  name: string;
  /** Every file it was put together from. */
  files: string[];
  provider: string;
  isStream: boolean;
  /** Body of the recorded request; null where only the answer was kept. */
  request: Record<string, unknown> | null;
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

interface ManifestFile {
  file: string;
  provider: string;
  dialect: string;
  kind: string[];
  status: number;
}

interface Exchange {
  request: { body: Record<string, unknown> };
  response: { status: number; headers: Record<string, string>; body?: unknown; body_file?: string };
}

const encoder = new TextEncoder();

/** Puts the framing back that the lines of a file were stripped of. @returns the streams that the file holds */
export type FrameLines = (lines: string[]) => (string | Uint8Array)[];

/**
 * All recordings of a dialect.
 * @param frame  Default: events of chat completions
 * @throws where the folder or a file is missing
 */
export function loadRecordings(dialect: string, frame: FrameLines = streamsIn): Recording[] {
  const root = sharedPath('fixtures');
  const text = (file: string) => readFileSync(join(root, file), 'utf8');
  const manifest = JSON.parse(text('manifest.json')) as { files: ManifestFile[] };
  const files = manifest.files.filter((one) => one.dialect === dialect);
  const bytes = (body: string | Uint8Array) => (typeof body === 'string' ? encoder.encode(body) : body);
  // A raw body belongs to the exchange that names it.
  return files
    .filter(({ file }) => !/\.body\.(?:sse|eventstream\.bin)$/.test(file))
    .flatMap(({ file, provider, kind, status }): Recording[] => {
      const isStream = kind.includes('stream');
      const type = isStream ? 'text/event-stream' : 'application/json';
      const plain = {
        name: file,
        files: [file],
        provider,
        isStream,
        request: null,
        status,
        headers: { 'content-type': type },
      };
      if (file.endsWith('.chunks.txt'))
        return frame(linesOf(text(file))).map((body) => ({ ...plain, body: bytes(body) }));
      if (!file.endsWith('.exchange.json')) return [{ ...plain, body: encoder.encode(text(file)) }];
      const { request, response } = JSON.parse(text(file)) as Exchange;
      const recorded = { ...plain, request: request.body, status: response.status, headers: response.headers };
      if (response.body_file === undefined)
        return [{ ...recorded, body: encoder.encode(JSON.stringify(response.body)) }];
      const bodyFile = join(dirname(file), response.body_file);
      return [{ ...recorded, files: [file, bodyFile], body: new Uint8Array(readFileSync(join(root, bodyFile))) }];
    });
}

/** How many files of a dialect the manifest lists. */
export function countRecordedFiles(dialect: string): number {
  const manifest = JSON.parse(readFileSync(join(sharedPath('fixtures'), 'manifest.json'), 'utf8')) as {
    files: ManifestFile[];
  };
  return manifest.files.filter((one) => one.dialect === dialect).length;
}

/**
 * Puts the framing back that a file of one payload a line was stripped of; some hold several streams, one after
 * another.
 */
function streamsIn(lines: string[]): string[] {
  const byId = Map.groupBy(lines, (line) => (JSON.parse(line) as { id: string }).id);
  return [...byId.values()].map((events) => [...events, '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** What an answer says, whether it came whole or in chunks, and whoever wrote it. */
export interface Said {
  choices: Record<
    number,
    {
      content: string;
      reasoning: string;
      refusal: string;
      calls: { id: string; name: string; arguments: string }[];
      finish: string | null;
    }
  >;
  /** The last that was reported. */
  usage: { prompt_tokens: number; total_tokens: number } | null;
  usageCount: number;
  error: string | null;
  isDone: boolean;
}

type Json = Record<string, unknown>;
type SaidChoice = Said['choices'][number];

/** Payloads of an event stream's data lines. Only for streams with `\n` and one data line per event. */
export function payloadsOf(stream: string): string[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim());
}

/** The chunks of a stream of ours. */
export function chunksOf(stream: string): Json[] {
  return payloadsOf(stream)
    .filter((one) => one !== '[DONE]')
    .map((one) => JSON.parse(one) as Json);
}

/** Reads a stream of chunks, ours or an upstream's. It knows the dialect by itself, so that it can judge ours. */
export function readSaidStream(stream: string): Said {
  const said: Said = { choices: {}, usage: null, usageCount: 0, error: null, isDone: false };
  for (const payload of payloadsOf(stream)) {
    if (payload === '[DONE]') {
      said.isDone = true;
      continue;
    }
    const event = JSON.parse(payload) as Json;
    readEnd(said, event);
    for (const raw of (event.choices ?? []) as Json[]) {
      const choice = choiceOf(said, (raw.index as number | undefined) ?? 0);
      const delta = (raw.delta ?? {}) as Json;
      readText(choice, delta);
      for (const [at, call] of ((delta.tool_calls ?? []) as Json[]).entries()) {
        const index = (call.index as number | undefined) ?? at;
        const { name, arguments: text } = (call.function ?? {}) as Json;
        choice.calls[index] ??= { id: '', name: '', arguments: '' };
        const known = choice.calls[index];
        known.id ||= (call.id as string | undefined) ?? '';
        known.name += (name as string | undefined) ?? '';
        known.arguments += (text as string | undefined) ?? '';
      }
      choice.finish ??= (raw.finish_reason as string | null | undefined) || null;
    }
  }
  // Some count their calls from one.
  for (const choice of Object.values(said.choices)) choice.calls = choice.calls.filter(Boolean);
  return said;
}

/** Reads a whole answer, ours or an upstream's. */
export function readSaidWhole(body: string): Said {
  const said: Said = { choices: {}, usage: null, usageCount: 0, error: null, isDone: true };
  const result = JSON.parse(body) as Json;
  readEnd(said, result);
  for (const raw of (result.choices ?? []) as Json[]) {
    const choice = choiceOf(said, (raw.index as number | undefined) ?? 0);
    const message = raw.message as Json;
    readText(choice, message);
    choice.calls = ((message.tool_calls ?? []) as Json[]).map((call) => {
      const { name, arguments: text } = call.function as { name: string; arguments: string };
      return { id: (call.id as string | undefined) ?? '', name, arguments: text };
    });
    choice.finish = (raw.finish_reason as string | undefined) ?? null;
  }
  return said;
}

function choiceOf(said: Said, index: number): SaidChoice {
  said.choices[index] ??= { content: '', reasoning: '', refusal: '', calls: [], finish: null };
  return said.choices[index];
}

function readText(choice: SaidChoice, from: Json): void {
  choice.content += (from.content as string | null | undefined) ?? '';
  choice.reasoning += ((from.reasoning ?? from.reasoning_content) as string | null | undefined) ?? '';
  choice.refusal += (from.refusal as string | null | undefined) ?? '';
}

function readEnd(said: Said, from: Json): void {
  const elsewhere = (from.x_groq as Json | undefined)?.usage;
  const usage = (from.usage ?? elsewhere) as Said['usage'] | undefined;
  if (usage) {
    said.usage = { prompt_tokens: usage.prompt_tokens, total_tokens: usage.total_tokens };
    said.usageCount++;
  }
  const error = from.error as { message: string } | undefined | null;
  if (error) said.error = error.message;
}

/** What the gateway has to make of a recording: our words for finish reasons, everything else as recorded. */
export function expectedOf(said: Said): Said['choices'] {
  return Object.fromEntries(
    Object.entries(said.choices).map(([index, choice]) => {
      // `eos` is Together's word for an ordinary end.
      const word = choice.finish === 'eos' ? 'stop' : choice.finish;
      return [index, { ...choice, finish: word === 'stop' && choice.calls.length > 0 ? 'tool_calls' : word }];
    }),
  );
}
