import { estimateTokenCount } from 'tokenx';
import type { Loose } from '../../../base/values.ts';
import { errorBody } from '../failure.ts';
import type { Document } from '../outcome.ts';

/** A PNG of one pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const tokensOfImage = 1_056;
const tokensOfPartial = 100;
const tokensOfPicture = 300;

/** The models that break a stream of images after its first event. */
export const breakingModels: readonly string[] = ['cut-stream', 'error-mid-stream'];

/** Answers a request for images: the same picture each time. @param pictures  the number of pictures to work from */
export function imagesAnswer(body: Loose, pictures: number): Document {
  const n = Number(body.n ?? 1);
  const partials = Number(body.partial_images ?? 0);
  const facts = {
    size: sizeOf(body.size),
    quality: typeof body.quality === 'string' && body.quality !== 'auto' ? body.quality : 'medium',
    background: 'opaque',
    output_format: 'png',
  };
  const text = Math.max(estimateTokenCount(String(body.prompt)), 1);
  const input = text + tokensOfPicture * pictures;
  const usageOf = (images: number, intermediate: number) => {
    const output = tokensOfImage * images + tokensOfPartial * intermediate;
    return {
      input_tokens: input,
      input_tokens_details: { text_tokens: text, image_tokens: input - text },
      output_tokens: output,
      total_tokens: input + output,
    };
  };
  const isStream = String(body.stream) === 'true';
  if (!isStream) {
    const data = Array.from({ length: n }, () => ({ b64_json: png }));
    return documentOf('application/json', JSON.stringify({ created: 0, ...facts, data, usage: usageOf(n, 0) }));
  }
  const prefix = pictures > 0 ? 'image_edit' : 'image_generation';
  const frame = (event: { type: string } & Loose) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  const head = { b64_json: png, created_at: 0, ...facts };
  const breaks = breakingModels.indexOf(String(body.model));
  const partial = (index: number) => frame({ type: `${prefix}.partial_image`, ...head, partial_image_index: index });
  if (breaks >= 0) {
    const error = frame({ type: 'error', ...errorBody(500, 'The sandbox breaks off here because of its model.') });
    return documentOf('text/event-stream', partial(0) + (breaks === 0 ? '' : error));
  }
  let events = '';
  for (let image = 0; image < n; image++) {
    for (let index = 0; index < partials; index++) events += partial(index);
    events += frame({ type: `${prefix}.completed`, ...head, usage: usageOf(1, partials) });
  }
  return documentOf('text/event-stream', events);
}

function sizeOf(size: unknown): string {
  return typeof size === 'string' && size !== 'auto' ? size : '1024x1024';
}

function documentOf(contentType: string, body: string): Document {
  return { kind: 'document', status: 200, headers: { 'content-type': contentType }, body };
}
