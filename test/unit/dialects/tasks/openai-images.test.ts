import { describe, expect, it } from 'vitest';
import type { ImagesBatch } from '../../../../src/dialects/tasks/contract.ts';
import { openaiImages } from '../../../../src/dialects/tasks/openai-images.ts';
import { framesOf } from '../../../support/check-responses.ts';
import { completedEvent, openaiUsage } from '../../../support/images/wire.ts';

const batch: ImagesBatch<{ images: { streams: true } }> = {
  prompt: 'A boat',
  references: [],
  mask: null,
  n: 2,
  size: null,
  aspectRatio: null,
  resolution: null,
  quality: null,
  outputFormat: null,
  wantsUrl: null,
  partialImages: 0,
  user: null,
  further: {},
  upstreamModel: 'gpt-image-2',
  quirks: { images: { streams: true } },
};

describe('a stream of several images', () => {
  it('reports the tokens of all of them, and how many of these are images', () => {
    const usage = { ...openaiUsage, output_tokens_details: { image_tokens: 4_000, text_tokens: 160 } };
    const decoder = openaiImages.decoder(batch);
    const [event] = framesOf(completedEvent(usage));
    const parts = [1, 2].flatMap(() => decoder?.decode(event?.data ?? '', '') ?? []);
    expect(parts.findLast(({ kind }) => kind === 'usage')).toEqual({
      kind: 'usage',
      usage: {
        promptTokens: 40,
        imageTokens: 0,
        completionTokens: 8_320,
        imageOutputTokens: 8_000,
        units: { image: 2 },
        imageForm: { size: '1024x1024', quality: 'high' },
      },
    });
    expect(parts.at(-1)).toEqual({ kind: 'done' });
  });
});
