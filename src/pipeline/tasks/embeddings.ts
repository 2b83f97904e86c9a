import { lazily } from '../../base/lazily.ts';
import type { Endpoint } from '../../call/model.ts';
import { badResponse } from '../../dialects/shared/values.ts';
import type {
  EmbeddingItem,
  EmbeddingPart,
  EmbeddingsBatch,
  EmbeddingsCodec,
  EmbeddingsWishes,
  Lack,
  TaskUsage,
  Vector,
} from '../../dialects/tasks/contract.ts';
import { asBase64, asFloats, lengthOf } from '../../dialects/tasks/vectors.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Needs } from '../../routing/needs.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { EmbeddingsRequest } from '../../schema/embeddings/request.ts';
import type { EmbeddingsResult } from '../../schema/embeddings/result.ts';
import type { Task, TaskBatch, TaskHead, TaskProgress } from '../task/task.ts';
import { boundOfItems, type ItemCount, ItemCounter } from './counting.ts';
import { inputUsageOf } from './usage.ts';
import { fieldsOf, itemsOf, needsOf, type Viewed, viewOf } from './view.ts';

/** Makes the task of a request for vectors. */
export function embeddingsTask(request: EmbeddingsRequest): Task {
  return new EmbeddingsTask(request, itemsIn(request.input));
}

function itemsIn(input: EmbeddingsRequest['input']): readonly EmbeddingItem[] {
  if (typeof input === 'string') return [{ kind: 'text', text: input }];
  if (typeof input[0] === 'number') return [{ kind: 'tokens', tokens: input as number[] }];
  return (input as (string | number[] | { content: EmbeddingPart[] })[]).map((one): EmbeddingItem => {
    if (typeof one === 'string') return { kind: 'text', text: one };
    return Array.isArray(one) ? { kind: 'tokens', tokens: one } : itemOfParts(one.content);
  });
}

/** Returns an item of parts; a text alone is a text, which every provider takes. */
function itemOfParts(parts: readonly EmbeddingPart[]): EmbeddingItem {
  const [only] = parts;
  const isText = parts.length === 1 && only?.type === 'text' && typeof only.text === 'string' && only.text !== '';
  return isText ? { kind: 'text', text: only.text as string } : { kind: 'parts', parts };
}

class EmbeddingsTask implements Task {
  readonly name = 'embeddings';
  readonly hasModelFallbacks = false;
  readonly hasOpaqueInput: boolean;
  readonly fields: EmbeddingsRequest;
  readonly #items: readonly EmbeddingItem[];
  readonly #wishes: EmbeddingsWishes;
  readonly #counts = lazily(() => {
    const counter = new ItemCounter();
    return this.#items.map((item) => countOf(item, counter));
  });

  constructor(fields: EmbeddingsRequest, items: readonly EmbeddingItem[]) {
    this.fields = fields;
    this.#items = items;
    this.hasOpaqueInput = items.some(({ kind }) => kind === 'tokens');
    this.#wishes = {
      dimensions: fields.dimensions ?? null,
      inputType: fields.input_type ?? null,
      user: fields.user ?? null,
      wantsBase64: fields.encoding_format === 'base64',
    };
  }

  get needs(): Needs {
    const longest = this.#counts().reduce((most, { typical }) => Math.max(most, typical), 0);
    return needsOf({
      modalities: [...new Set(this.#items.flatMap(modalitiesOf))],
      // An item alone has to fit into the context: the estimate may be a third too high.
      promptTokens: Math.floor(longest / 2),
    });
  }

  get parameters(): readonly string[] {
    return (['dimensions', 'input_type'] as const).filter((name) => (this.fields[name] ?? null) !== null);
  }

  get typicalTokens(): number {
    return this.#counts().reduce((sum, { typical }) => sum + typical, 0);
  }

  view(): ChatRequest {
    const { input_type: inputType } = this.fields;
    return viewOf(this.fields, this.#items.map(viewedOf), inputType ? { input_type: inputType } : {});
  }

  withView(view: ChatRequest): Task {
    const items = itemsOf(view, this.#items.length).map((viewed, at): EmbeddingItem => {
      const item = this.#items[at] as EmbeddingItem;
      if (item.kind === 'tokens') return item;
      return typeof viewed === 'string' ? { kind: 'text', text: viewed } : { kind: 'parts', parts: viewed };
    });
    const { input_type: inputType } = view as { input_type?: string };
    return new EmbeddingsTask({ ...fieldsOf(this.fields, view), input_type: inputType }, items);
  }

  lacks(provider: Provider, endpoint: Endpoint): Lack | null {
    return codecOf(provider).lacks(this.#batch(this.#items, provider, endpoint));
  }

  begin(): TaskProgress {
    return new EmbeddingsProgress(this.#items, this.#counts(), this.#wishes, (items, provider, endpoint) =>
      this.#batch(items, provider, endpoint),
    );
  }

  parametersOf() {
    const { dimensions, wantsBase64 } = this.#wishes;
    return {
      ...(dimensions === null ? {} : { dimensions }),
      encodingFormats: [wantsBase64 ? 'base64' : 'float'],
    };
  }

  #batch(items: readonly EmbeddingItem[], { quirks }: Provider, { upstreamModel }: Endpoint): EmbeddingsBatch {
    return { items, ...this.#wishes, upstreamModel, quirks };
  }
}

function codecOf({ dialect }: Provider): EmbeddingsCodec {
  return dialect.tasks?.embeddings as EmbeddingsCodec;
}

function countOf(item: EmbeddingItem, counter: ItemCounter): ItemCount {
  if (item.kind === 'text') return counter.text(item.text);
  return item.kind === 'tokens' ? counter.tokens(item.tokens) : counter.parts(item.parts);
}

/** The content of a view's message. Token ids have no text: where guardrails act, they are refused. */
function viewedOf(item: EmbeddingItem): Viewed {
  if (item.kind === 'text') return item.text;
  return item.kind === 'tokens' ? '' : item.parts;
}

const modalityOf: Readonly<Record<string, string>> = {
  image_url: 'image',
  input_audio: 'audio',
  input_video: 'video',
  video_url: 'video',
  input_file: 'file',
  file: 'file',
};

function modalitiesOf(item: EmbeddingItem): string[] {
  return item.kind === 'parts' ? item.parts.flatMap(({ type }) => modalityOf[type] ?? []) : [];
}

type MakeBatch = (items: readonly EmbeddingItem[], provider: Provider, endpoint: Endpoint) => EmbeddingsBatch;

/** The vectors that have arrived. */
class EmbeddingsProgress implements TaskProgress {
  readonly #items: readonly EmbeddingItem[];
  readonly #counts: readonly ItemCount[];
  readonly #wishes: EmbeddingsWishes;
  readonly #batch: MakeBatch;
  readonly #vectors: (Vector | undefined)[];
  /** The length of each vector; null: none has arrived. */
  #length: number | null;

  constructor(
    items: readonly EmbeddingItem[],
    counts: readonly ItemCount[],
    wishes: EmbeddingsWishes,
    batch: MakeBatch,
  ) {
    this.#items = items;
    this.#counts = counts;
    this.#wishes = wishes;
    this.#batch = batch;
    this.#vectors = new Array(items.length).fill(undefined);
    this.#length = wishes.dimensions;
  }

  restart(): void {
    this.#vectors.fill(undefined);
    this.#length = this.#wishes.dimensions;
  }

  missing(provider: Provider, endpoint: Endpoint): readonly TaskBatch[] {
    const { items: mostItems, tokens: mostTokens = Number.POSITIVE_INFINITY } = codecOf(provider).limits(
      endpoint.upstreamModel,
      provider.quirks,
    );
    const batches: TaskBatch[] = [];
    let places: number[] = [];
    let tokens = 0;
    const close = () => {
      if (places.length > 0) batches.push(this.#batchOf(places, provider, endpoint));
      places = [];
      tokens = 0;
    };
    for (let at = 0; at < this.#items.length; at++) {
      if (this.#vectors[at] !== undefined) continue;
      const { typical } = this.#counts[at] as ItemCount;
      if (places.length === mostItems || tokens + typical > mostTokens) close();
      places.push(at);
      tokens += typical;
    }
    close();
    return batches;
  }

  #batchOf(places: readonly number[], provider: Provider, endpoint: Endpoint): TaskBatch {
    const codec = codecOf(provider);
    const items = places.map((at) => this.#items[at] as EmbeddingItem);
    const batch = this.#batch(items, provider, endpoint);
    return {
      bound: boundOfItems(places.map((at) => this.#counts[at] as ItemCount)),
      encode: () => codec.encode(batch),
      take: (body, headers): TaskUsage | null => {
        const { vectors, usage } = codec.decode(body, headers, batch);
        if (vectors.length !== places.length)
          throw badResponse('The provider responded with another number of vectors than the request has items.');
        const shown = vectors.map((vector) => (this.#wishes.wantsBase64 ? asBase64(vector) : asFloats(vector)));
        for (const vector of shown) this.#checkLength(vector);
        for (const [at, vector] of shown.entries()) this.#vectors[places[at] as number] = vector;
        return usage;
      },
    };
  }

  /** @throws UpstreamError bad_response where a vector is not as long as those before: they could not be compared */
  #checkLength(vector: Vector): void {
    const length = lengthOf(vector);
    this.#length ??= length;
    if (length !== this.#length)
      throw badResponse(`The provider responded with a vector of ${length} numbers instead of ${this.#length}.`);
  }

  result({ id, model }: TaskHead, usage: Usage): EmbeddingsResult {
    return {
      object: 'list',
      data: this.#vectors.map((embedding, index) => ({
        object: 'embedding',
        index,
        embedding: embedding as string | number[],
      })),
      model,
      id,
      usage: inputUsageOf(usage),
    };
  }
}
