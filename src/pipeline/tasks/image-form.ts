import { GatewayError } from '../../base/errors.ts';
import { doneFrame } from '../../base/http/sse.ts';
import type { ImageFacts, MadeImage } from '../../dialects/tasks/contract.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import type { ImagesResult, ImagesUsage, OpenaiImagesResult } from '../../schema/images/result.ts';
import type { TaskEvents, TaskHead } from '../task/task.ts';
import { eventFrame } from './events.ts';

/** An image, and its facts. */
export interface ShownImage {
  readonly image: MadeImage;
  readonly facts: ImageFacts;
}

/** The client's side of a format of images. */
export interface ImageForm {
  /** The frames of its streams. */
  readonly events: TaskEvents;
  /** true: images come as base64 alone. */
  readonly isBase64: boolean;
  result(head: TaskHead, images: readonly ShownImage[], usage: Usage): OpenaiImagesResult | ImagesResult;
  partial(head: TaskHead, image: ShownImage, index: number): string;
  /** @param further  further fields, such as the route of the call */
  completed(head: TaskHead, image: ShownImage, usage: Usage, further: Readonly<Record<string, unknown>>): string;
  /** The end of a stream. */
  readonly end: string;
}

const keepAlive = ': keep-alive\n\n';
/** The usage of an image behind which another follows, which has that of all. */
export const noUsage: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/**
 * The format of OpenAI.
 * @param prefix  the first word of its events
 */
export function openaiForm(prefix: 'image_generation' | 'image_edit'): ImageForm {
  const frame = (event: { readonly type: string; readonly [field: string]: unknown }) =>
    `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  const eventOf = ({ created }: TaskHead, { image, facts }: ShownImage) => ({
    b64_json: base64Of(image),
    created_at: created,
    size: facts.size ?? 'auto',
    quality: facts.quality ?? 'auto',
    background: facts.background ?? 'auto',
    output_format: facts.output_format ?? formatOf(image) ?? 'png',
  });
  return {
    events: { keepAlive, failed: (error) => frame({ type: 'error', error }) },
    isBase64: false,
    result: ({ id, created, model, provider }, images, usage) => ({
      created,
      ...images[0]?.facts,
      data: images.map(({ image: { base64, url, revisedPrompt } }) => ({
        ...(base64 === null ? {} : { b64_json: base64 }),
        ...(url === null ? {} : { url }),
        ...(revisedPrompt === null ? {} : { revised_prompt: revisedPrompt }),
      })),
      usage: openaiUsage(usage),
      id,
      model,
      provider,
    }),
    partial: (head, image, index) =>
      frame({ type: `${prefix}.partial_image`, ...eventOf(head, image), partial_image_index: index }),
    completed: (head, image, usage, further) =>
      frame({ type: `${prefix}.completed`, ...eventOf(head, image), usage: openaiUsage(usage), ...further }),
    end: '',
  };
}

/** The format of the public service. */
export const serviceForm: ImageForm = {
  events: {
    keepAlive,
    failed: (error) => eventFrame({ type: 'error', error }) + doneFrame,
  },
  isBase64: true,
  result: ({ id, created, model, provider }, images, usage) => ({
    created,
    data: images.map(({ image }) => ({
      b64_json: base64Of(image),
      ...(image.mediaType === null ? {} : { media_type: image.mediaType }),
    })),
    usage: usage as ImagesResult['usage'],
    id,
    model,
    provider,
  }),
  partial: (_, { image }, index) =>
    eventFrame({ type: 'image_generation.partial_image', partial_image_index: index, b64_json: base64Of(image) }),
  completed: ({ created }, { image }, usage, further) =>
    eventFrame({
      type: 'image_generation.completed',
      b64_json: base64Of(image),
      ...(image.mediaType === null ? {} : { media_type: image.mediaType }),
      created,
      usage,
      ...further,
    }),
  end: doneFrame,
};

function base64Of({ base64 }: MadeImage): string {
  if (base64 === null)
    throw new GatewayError('upstream_failed', 'The provider responded with an address in place of an image');
  return base64;
}

function formatOf({ mediaType }: MadeImage): string | null {
  return mediaType?.replace(/^image\//, '').replace(/\+xml$/, '') ?? null;
}

/** Returns a usage in the words of OpenAI's images. */
function openaiUsage(usage: Usage): ImagesUsage {
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total, ...rest } = usage;
  const { prompt_tokens_details: ofInput, completion_tokens_details: ofOutput, ...cost } = rest;
  const { image_tokens: shown = 0 } = (ofInput ?? {}) as { image_tokens?: number };
  const imagesIn = Math.min(shown, input);
  const { image_tokens: made = 0 } = (ofOutput ?? {}) as { image_tokens?: number };
  const imagesOut = Math.min(made, output);
  return {
    input_tokens: input,
    input_tokens_details: { image_tokens: imagesIn, text_tokens: input - imagesIn },
    output_tokens: output,
    output_tokens_details: { image_tokens: imagesOut, text_tokens: output - imagesOut },
    total_tokens: total,
    ...(cost as object),
  };
}
