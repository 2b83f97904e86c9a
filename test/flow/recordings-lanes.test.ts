import { expect, it } from 'vitest';
import type { ByteSource } from '../../src/base/bytes.ts';
import { createRedactor } from '../../src/base/secrets.ts';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { chatEncoder } from '../../src/formats/chat/encoder.ts';
import { OpenSecrets } from '../../src/pipeline/secrets/open-secrets.ts';
import { type ChunkOutput, Passthrough } from '../../src/pipeline/stream/chunk-output.ts';
import { ChoiceWatch, eventReader } from '../../src/pipeline/stream/events.ts';
import { StreamProgress } from '../../src/pipeline/stream/progress.ts';
import { StreamReader } from '../../src/pipeline/stream/reader.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { loadRecordings, payloadsOf } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';

const encoder = new TextEncoder();
const nothing: ByteSource = { read: async () => null, cancel: () => undefined };
const limits = { bodyBytes: 1e9, streamBytes: 1e9, eventBytes: 1e9, errorBytes: 1e9, headerBytes: 1e9, depth: 100 };
const provider = defineProvider({ slug: 'replay', baseUrl: 'http://replay.invalid/v1', dialect: openaiChat });

/** Which payloads of a stream were copied, and which decoded. */
function lanesOf(payloads: string[]): { copied: string[]; decoded: string[] } {
  const lanes: { copied: string[]; decoded: string[] } = { copied: [], decoded: [] };
  const head = { id: 'gen-1', created: 1, model: 'acme/replayed', provider: 'Replay' };
  const redactor = createRedactor(['sk-0123456789']);
  const secrets = new OpenSecrets(redactor);
  const progress = new StreamProgress(new ChoiceWatch(1));
  const reader = new StreamReader(eventReader(nothing, provider, limits), redactor, secrets, progress);
  const passthrough = new Passthrough(head, chatEncoder('service'), redactor, secrets);
  let wasCopied = false;
  const watched: ChunkOutput = {
    chunk: (chunk) => passthrough.chunk(chunk),
    learn: (events, chunk) => passthrough.learn(events, chunk),
    forward(framer) {
      const textBytes = passthrough.forward(framer);
      if (textBytes >= 0) wasCopied = true;
      return textBytes;
    },
  };
  for (const payload of payloads) {
    wasCopied = false;
    reader.push(encoder.encode(`data: ${payload}\n\n`), watched);
    lanes[wasCopied ? 'copied' : 'decoded'].push(payload);
  }
  return lanes;
}

/** An event with what may differ from one to the next left out. */
function shapeOf(payload: string): string {
  if (payload === '[DONE]') return payload;
  return payload.replace(/"(?:[^"\\]|\\.)*"(?=[,}\]])/g, '""').replace(/:\d+/g, ':0');
}

/** Shapes that carry text or reasoning and nothing else that changes: what the passthrough lane is for. */
function isPlainText(payload: string): boolean {
  if (payload === '[DONE]') return false;
  const { choices, usage } = JSON.parse(payload);
  const [choice] = choices ?? [];
  if (!choice || usage || choice.finish_reason || choice.delta?.tool_calls) return false;
  const { content, reasoning, reasoning_content } = choice.delta ?? {};
  return [content, reasoning, reasoning_content].some((text) => typeof text === 'string' && text !== '');
}

describeWithShared('recorded streams on the passthrough lane', () => {
  const streams = loadRecordings('openai-chat').filter(({ isStream }) => isStream);
  const byProvider = Map.groupBy(streams, ({ provider: slug }) => slug);

  it.each([...byProvider])('%s: most events of text are copied, not decoded', (slug, recordings) => {
    let copied = 0;
    let texts = 0;
    const missed = new Map<string, number>();
    for (const { body } of recordings) {
      const lanes = lanesOf(payloadsOf(new TextDecoder().decode(body)));
      copied += lanes.copied.length;
      const missedTexts = lanes.decoded.filter(isPlainText);
      texts += lanes.copied.length + missedTexts.length;
      for (const payload of missedTexts) missed.set(shapeOf(payload), (missed.get(shapeOf(payload)) ?? 0) + 1);
    }
    const share = copied / Math.max(texts, 1);
    const shapes = [...missed].sort(([, a], [, b]) => b - a).slice(0, 3);
    console.log(
      [
        `lanes: ${slug}: ${copied} of ${texts} events of text copied`,
        ...shapes.map(([shape, times]) => `  ${times} x ${shape.slice(0, 400)}`),
      ].join('\n'),
    );
    // Of each shape the first is decoded, to learn from.
    if (texts >= 50) expect(share).toBeGreaterThan(0.9);
  });
});
