import { lazily } from '../../base/lazily.ts';
import type { Endpoint, PricedKind } from '../../call/model.ts';
import { badResponse } from '../../dialects/shared/values.ts';
import type {
  ImagePiece,
  ImageSource,
  ImagesBatch,
  ImagesCodec,
  ImagesWishes,
  Lack,
} from '../../dialects/tasks/contract.ts';
import { addressOf, sidesOf } from '../../dialects/tasks/image-files.ts';
import type { TaskBound } from '../../pricing/task-cost.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Needs } from '../../routing/needs.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { ImageEditsRequest, ImageGenerationsRequest, ImagesRequest } from '../../schema/images/request.ts';
import type { TaskFields } from '../../schema/task-fields.ts';
import type { MakeGuard, Task, TaskBatch, TaskHead, TaskProgress, TaskStream } from '../task/task.ts';
import { boundOfItems, ItemCounter } from './counting.ts';
import { type ImageForm, noUsage, openaiForm, type ShownImage, serviceForm } from './image-form.ts';
import { fieldsOf, itemsOf, needsOf, type Viewed, viewOf } from './view.ts';

/** Makes the task of POST /images/generations. */
export function imageGenerationsTask(request: ImageGenerationsRequest): Task {
  const { style, seed, negative_prompt } = request;
  return new ImagesTask(request, openaiWishes(request, [], null, { style, seed, negative_prompt }), generations);
}

/** Makes the task of POST /images/edits. */
export function imageEditsTask(request: ImageEditsRequest): Task {
  const { image, images, mask, input_fidelity } = request;
  const files = image === null || image === undefined ? [] : Array.isArray(image) ? image : [image];
  const references = [
    ...files.map((file): ImageSource => ({ kind: 'file', file })),
    ...(images ?? []).map(({ image_url: url }): ImageSource => ({ kind: 'url', url })),
  ];
  const masked = mask === null || mask === undefined ? null : sourceOf(mask);
  return new ImagesTask(request, openaiWishes(request, references, masked, { input_fidelity }), edits);
}

/** Makes the task of POST /images. */
export function imagesTask(request: ImagesRequest): Task {
  const { resolution, aspect_ratio: aspectRatio, input_references, stream, seed } = request;
  const size = request.size ?? null;
  const isResolution = size !== null && size !== 'auto' && sidesOf(size) === null;
  const wishes: ImagesWishes = {
    ...sharedWishes(request, { seed }),
    references: (input_references ?? []).map(({ image_url }) => ({ kind: 'url', url: image_url.url })),
    mask: null,
    size: isResolution ? null : size,
    resolution: resolution ?? (isResolution ? size : null),
    aspectRatio: aspectRatio ?? null,
    wantsUrl: false,
    partialImages: stream === true ? 0 : null,
  };
  return new ImagesTask(request, wishes, serviceForm);
}

const generations = openaiForm('image_generation');
const edits = openaiForm('image_edit');

function sourceOf(mask: NonNullable<ImageEditsRequest['mask']>): ImageSource {
  return 'image_url' in mask ? { kind: 'url', url: mask.image_url } : { kind: 'file', file: mask };
}

type SharedFields = Pick<
  ImageGenerationsRequest,
  'prompt' | 'n' | 'quality' | 'output_format' | 'background' | 'output_compression' | 'user'
>;

function sharedWishes(request: SharedFields, further: Readonly<Record<string, unknown>>) {
  const { prompt, n, quality, output_format, background, output_compression, user } = request;
  return {
    prompt,
    n: n ?? 1,
    quality: quality ?? null,
    outputFormat: output_format ?? null,
    user: user ?? null,
    further: given({ background, output_compression, ...further }),
  };
}

function openaiWishes(
  request: ImageGenerationsRequest | ImageEditsRequest,
  references: readonly ImageSource[],
  mask: ImageSource | null,
  further: Readonly<Record<string, unknown>>,
): ImagesWishes {
  const { safety_identifier, frame_count, frame_duration_ms, svg, complexity, moderation } = request;
  const { size, response_format: format, stream, partial_images: partialImages } = request;
  return {
    ...sharedWishes(request, {
      safety_identifier,
      frame_count,
      frame_duration_ms,
      svg,
      complexity,
      moderation,
      ...further,
    }),
    references,
    mask,
    size: size ?? null,
    resolution: null,
    aspectRatio: null,
    // The events of a stream have base64 alone.
    wantsUrl: stream === true ? false : (format ?? null) === null ? null : format === 'url',
    partialImages: stream === true ? (partialImages ?? 0) : null,
  };
}

function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

class ImagesTask implements Task {
  readonly name = 'images';
  readonly hasModelFallbacks = true;
  readonly hasOpaqueInput = false;
  readonly fields: TaskFields;
  readonly stream: TaskStream | undefined;
  readonly #wishes: ImagesWishes;
  readonly #form: ImageForm;
  readonly #input = lazily(() => {
    const counter = new ItemCounter();
    const { prompt, references, mask, further } = this.#wishes;
    const texts = [prompt, ...textsIn(further)].map((text) => counter.text(text));
    const pictures = [...references, ...(mask === null ? [] : [mask])].map(() => counter.parts([{ image_url: '' }]));
    return boundOfItems([...texts, ...pictures]);
  });
  readonly #viewed = lazily(() => viewedOf(this.#wishes));

  constructor(fields: TaskFields, wishes: ImagesWishes, form: ImageForm) {
    this.fields = fields;
    this.#wishes = wishes;
    this.#form = form;
    this.stream = wishes.partialImages === null ? undefined : { events: form.events };
  }

  get needs(): Needs {
    return needsOf({ modalities: this.#wishes.references.length > 0 ? ['image'] : [], outputs: ['image'] });
  }

  get parameters(): readonly string[] {
    const { size, aspectRatio, resolution, quality, outputFormat, further } = this.#wishes;
    const fields = { size, aspect_ratio: aspectRatio, resolution, quality, output_format: outputFormat, ...further };
    return Object.keys(given(fields));
  }

  get typicalTokens(): number {
    return this.#input().typicalTokens + this.#wishes.n * usualOutput;
  }

  view(): ChatRequest {
    const { further, partialImages } = this.#wishes;
    return viewOf(this.fields, [this.#viewed()], {
      modalities: ['image'],
      ...(typeof further.negative_prompt === 'string' ? { negative_prompt: further.negative_prompt } : {}),
      ...(partialImages === null ? {} : { stream: true }),
    });
  }

  withView(view: ChatRequest): Task {
    const [viewed = ''] = itemsOf(view, 1);
    checkPictures(viewed, this.#viewed());
    const texts =
      typeof viewed === 'string' ? [viewed] : viewed.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
    const { negative_prompt: negative } = view as { negative_prompt?: unknown };
    const { negative_prompt: _, ...further } = this.#wishes.further;
    const wishes = {
      ...this.#wishes,
      prompt: texts.join('\n'),
      user: view.user ?? null,
      further: typeof negative === 'string' ? { ...further, negative_prompt: negative } : further,
    };
    return new ImagesTask(fieldsOf(this.fields, view), wishes, this.#form);
  }

  lacks(provider: Provider, endpoint: Endpoint): Lack | null {
    return codecOf(provider).lacks(this.#batch(this.#wishes.n, provider, endpoint));
  }

  begin(guard: MakeGuard | null): TaskProgress {
    const batch: MakeBatch = (n, provider, endpoint) => this.#batch(n, provider, endpoint);
    return new ImagesProgress(this.#wishes, this.#form, this.#input(), batch, guard);
  }

  parametersOf() {
    return {};
  }

  #batch(n: number, { quirks }: Provider, { upstreamModel }: Endpoint): ImagesBatch {
    return { ...this.#wishes, n, upstreamModel, quirks };
  }
}

/** The tokens of a usual image, for rate limits. */
const usualOutput = 1_500;

/** Texts of the caller beside the prompt. */
function textsIn({ negative_prompt: negative }: ImagesWishes['further']): readonly string[] {
  return typeof negative === 'string' ? [negative] : [];
}

function viewedOf({ prompt, references, mask }: ImagesWishes): Viewed {
  const sources = mask === null ? references : [...references, mask];
  if (sources.length === 0) return prompt;
  const pictures = sources.map((source) => ({ type: 'image_url', image_url: { url: addressOf(source) } }));
  return [{ type: 'text', text: prompt }, ...pictures];
}

/** @throws Error where a picture is missing, or is another one: what a guardrail took out must not be sent */
function checkPictures(viewed: Viewed, asked: Viewed): void {
  const [left, before] = [picturesIn(viewed), picturesIn(asked)];
  if (left.length !== before.length || left.some((url, at) => url !== before[at]))
    throw new Error('expected the pictures that the request has');
}

function picturesIn(viewed: Viewed): readonly unknown[] {
  if (typeof viewed === 'string') return [];
  return viewed.flatMap(({ type, image_url: picture }) =>
    type === 'image_url' ? [(picture as { url?: unknown } | undefined)?.url] : [],
  );
}

function codecOf({ dialect }: Provider): ImagesCodec {
  return dialect.tasks?.images as ImagesCodec;
}

type MakeBatch = (n: number, provider: Provider, endpoint: Endpoint) => ImagesBatch;

/** The images that have arrived. */
class ImagesProgress implements TaskProgress {
  readonly #wishes: ImagesWishes;
  readonly #form: ImageForm;
  readonly #input: TaskBound;
  readonly #batch: MakeBatch;
  readonly #guard: MakeGuard | null;
  #images: ShownImage[] = [];
  /** The number of images that the requests so far were for. */
  #asked = 0;
  /** The latest image of a stream, which is written together with the usage. */
  #held: ShownImage | null = null;

  constructor(wishes: ImagesWishes, form: ImageForm, input: TaskBound, batch: MakeBatch, guard: MakeGuard | null) {
    this.#wishes = wishes;
    this.#form = form;
    this.#input = input;
    this.#batch = batch;
    this.#guard = guard;
  }

  restart(): void {
    this.#images = [];
    this.#asked = 0;
  }

  missing(provider: Provider, endpoint: Endpoint): readonly TaskBatch[] {
    const codec = codecOf(provider);
    const batches: TaskBatch[] = [];
    const most = codec.mostImages(this.#batch(1, provider, endpoint));
    for (let left = this.#wishes.n - this.#asked; left > 0; left -= most)
      batches.push(this.#batchOf(Math.min(left, most), provider, endpoint));
    return batches;
  }

  #batchOf(n: number, provider: Provider, endpoint: Endpoint): TaskBatch {
    const codec = codecOf(provider);
    const batch = this.#batch(n, provider, endpoint);
    // A response of several requests is put together here.
    const decoder = n === this.#wishes.n ? codec.decoder(batch) : null;
    return {
      bound: boundOf(this.#input, codec, batch, endpoint),
      results: n,
      encode: () => codec.encode(batch),
      take: (body) => {
        const { images, facts, usage } = codec.decode(body, batch);
        const shown = images.map((image) => ({ image, facts }));
        for (const one of shown) this.#check(one);
        this.#images.push(...shown);
        this.#asked += n;
        return usage;
      },
      ...(decoder === null ? {} : { decoder: () => codec.decoder(batch) as NonNullable<typeof decoder> }),
    };
  }

  /** @throws UpstreamError bad_response for an address where the client's format has no place for one */
  #check({ image }: ShownImage): void {
    const needsBase64 = this.#form.isBase64 || this.#wishes.partialImages !== null;
    if (needsBase64 && image.base64 === null)
      throw badResponse('The provider responded with an address in place of an image.');
  }

  /** Sends the prompts that a model has revised through the guardrails, where the client gets them. */
  async checked(): Promise<void> {
    const makeGuard = this.#guard;
    if (makeGuard === null || this.#form.isBase64 || this.#wishes.partialImages !== null) return;
    const checked: ShownImage[] = [];
    for (const { image, facts } of this.#images) {
      if (image.revisedPrompt === null) {
        checked.push({ image, facts });
        continue;
      }
      const guard = makeGuard();
      const revisedPrompt = (await guard.push(image.revisedPrompt)) + (await guard.end());
      checked.push({ image: { ...image, revisedPrompt }, facts });
    }
    this.#images = checked;
  }

  piece(given: unknown, head: TaskHead): string {
    const { kind, image, index, facts } = given as ImagePiece;
    if (kind === 'partial') return this.#form.partial(head, { image, facts }, index);
    const before = this.#held;
    this.#held = { image, facts };
    return before === null ? '' : this.#form.completed(head, before, noUsage, {});
  }

  last(head: TaskHead, usage: Usage, further: Readonly<Record<string, unknown>>): string {
    const images = this.#held === null ? this.#images : [this.#held];
    const [last, ...before] = images.toReversed();
    const written = before.toReversed().map((image) => this.#form.completed(head, image, noUsage, {}));
    if (last !== undefined) written.push(this.#form.completed(head, last, usage, further));
    return written.join('') + this.#form.end;
  }

  result(head: TaskHead, usage: Usage) {
    return this.#form.result(head, this.#images, usage);
  }
}

/**
 * Returns the bound of a request in the unit that an endpoint sells: images or megapixels where it has a price of them,
 * else tokens.
 */
function boundOf(input: TaskBound, codec: ImagesCodec, batch: ImagesBatch, endpoint: Endpoint): TaskBound {
  const { pricing, maxCompletionTokens } = endpoint;
  const { n, size, quality } = batch;
  const units = pricing?.unitsPicoUsd ?? {};
  const sidesKnown = sidesOf(size);
  const isByImage = units.image !== undefined || pricing?.imageVariants !== undefined;
  if (isByImage || units.megapixel !== undefined) {
    const megapixels = Math.ceil(((sidesKnown?.width ?? largest) * (sidesKnown?.height ?? largest)) / 1_000_000);
    // Where the input costs nothing, nobody needs to count it.
    const isFreeInput = !pricing?.promptPicoUsd && !pricing?.imageTokenPicoUsd;
    return {
      ...input,
      ...(isFreeInput ? { tokens: 0, leastTokens: 0, typicalTokens: 0 } : {}),
      units: {
        ...(isByImage ? { image: n } : {}),
        ...(units.megapixel === undefined ? {} : { megapixel: n * megapixels }),
      },
      imageForm: { size: sidesKnown === null ? null : size, quality: quality === 'auto' ? null : quality },
    };
  }
  const { most, typical } = codec.outputTokens(batch, maxCompletionTokens);
  const kinds = new Set<PricedKind>([...input.kinds, 'imageOutput']);
  return { ...input, kinds, output: { tokens: most * n, typicalTokens: typical * n } };
}

/** The side of the largest image that a model makes without being asked for a size, in pixels. */
const largest = 4_096;
