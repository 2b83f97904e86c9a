import { readSaidStream, type Said } from './recordings.ts';
import { type Replay, replayGateway } from './replay.ts';

const encoder = new TextEncoder();

/** An event of a stream. */
export function event(payload: unknown): string {
  return `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`;
}

/** A chunk with one choice, as OpenAI writes it. */
export function chunkOf(delta: object, rest: object = {}): Record<string, unknown> {
  return { ...head, choices: [{ index: 0, delta, finish_reason: null, ...rest }] };
}

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'upstream' };

export const text = (content: string) => event(chunkOf({ content }));
export const stop = event(chunkOf({}, { finish_reason: 'stop' }));
export const done = event('[DONE]');
export const usageEvent = (usage: unknown) => event({ ...head, choices: [], usage });
export const usual = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** A whole answer. */
export function resultOf(fields: object = {}, message: object = {}, choice: object = {}): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'upstream',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello', ...message }, finish_reason: 'stop', ...choice },
    ],
    usage: usual,
    ...fields,
  };
}

export const bytesOf = (data: string | Uint8Array) => (typeof data === 'string' ? encoder.encode(data) : data);

/** Sends this stream through both lanes; each answer as it came and as it reads. */
export async function throughBothLanes(
  stream: string | Uint8Array,
): Promise<{ lane: string; status: number; text: string; said: Said; replay: Replay }[]> {
  const answers = [];
  for (const lane of ['passthrough', 'decoded'] as const) {
    const replay = replayGateway({ lane });
    const answer = await replay.send({ pieces: [bytesOf(stream)] }, { stream: true });
    const said =
      answer.status === 200
        ? readSaidStream(answer.text)
        : { choices: {}, usage: null, usageCount: 0, error: null, isDone: false };
    answers.push({ lane, ...answer, said, replay });
  }
  return answers;
}
