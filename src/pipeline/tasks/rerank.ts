import { lazily } from '../../base/lazily.ts';
import type { Endpoint } from '../../call/model.ts';
import type { Lack, RankedAt, RankedDocument, RerankBatch, RerankCodec } from '../../dialects/tasks/contract.ts';
import type { TaskBound } from '../../pricing/task-cost.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Needs } from '../../routing/needs.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { RerankRequest } from '../../schema/rerank/request.ts';
import type { RerankResult } from '../../schema/rerank/result.ts';
import type { Task, TaskHead, TaskProgress } from '../task/task.ts';
import { boundOfItems, ItemCount, ItemCounter } from './counting.ts';
import { fieldsOf, itemsOf, needsOf, type Viewed, viewOf } from './view.ts';
import { WholeProgress } from './whole.ts';

/** The documents of a search unit. */
const documentsPerUnit = 100;
/** A reranker with the shortest window splits a longer document, and counts each part as one. */
const tokensPerPart = 500;

/** Makes the task of a request for a ranking. */
export function rerankTask(request: RerankRequest): Task {
  const documents = request.documents.map((one): RankedDocument => {
    if (typeof one === 'string') return { text: one };
    return { text: one.text ?? '', ...(one.image === undefined ? {} : { image: one.image }) };
  });
  return new RerankTask(request, documents);
}

class RerankTask implements Task {
  readonly name = 'rerank';
  /** The scores of a response are of one model, whichever it is. */
  readonly hasModelFallbacks = true;
  readonly hasOpaqueInput = false;
  readonly parameters: readonly string[] = [];
  readonly fields: RerankRequest;
  readonly #documents: readonly RankedDocument[];
  readonly #bound = lazily(() => boundOf(this.fields.query, this.#documents));

  constructor(fields: RerankRequest, documents: readonly RankedDocument[]) {
    this.fields = fields;
    this.#documents = documents;
  }

  get needs(): Needs {
    return needsOf({ modalities: this.#documents.some(({ image }) => image !== undefined) ? ['image'] : [] });
  }

  get typicalTokens(): number {
    return this.#bound().typicalTokens;
  }

  /** The query comes first, then the documents. */
  view(): ChatRequest {
    const documents = this.#documents.map(
      ({ text, image }): Viewed =>
        image === undefined
          ? text
          : [
              { type: 'text', text },
              { type: 'image_url', image_url: { url: image } },
            ],
    );
    return viewOf(this.fields, [this.fields.query, ...documents]);
  }

  withView(view: ChatRequest): Task {
    const [query = '', ...documents] = itemsOf(view, this.#documents.length + 1);
    return new RerankTask({ ...fieldsOf(this.fields, view), query: textOf(query) }, documents.map(documentOf));
  }

  lacks(provider: Provider, endpoint: Endpoint): Lack | null {
    const codec = codecOf(provider);
    const batch = this.#batch(provider, endpoint);
    const most = codec.mostDocuments(endpoint.upstreamModel, provider.quirks);
    if (this.#documents.length > most) return { path: 'documents', expected: `at most ${most} documents` };
    return codec.lacks(batch);
  }

  begin(): TaskProgress {
    // It comes in one response: scores of several could not be compared.
    return new WholeProgress<readonly RankedAt[]>(
      (provider, endpoint) => {
        const codec = codecOf(provider);
        const batch = this.#batch(provider, endpoint);
        return {
          bound: soldBy(endpoint, this.#bound()),
          encode: () => codec.encode(batch),
          decode: (body, headers) => codec.decode(body, headers, batch),
        };
      },
      (ranked, head, usage) => this.#resultOf(ranked, head, usage),
    );
  }

  #resultOf(ranked: readonly RankedAt[], { id, model, provider }: TaskHead, usage: Usage): RerankResult {
    const { return_documents: returns, top_k: topK } = this.fields;
    const { prompt_tokens: _, completion_tokens: __, ...rest } = usage;
    const used = rest as RerankResult['usage'];
    const results = ranked.map(({ index, score }): RerankResult['results'][number] => {
      const result = { index, relevance_score: score };
      return returns === true ? { ...result, document: { ...(this.#documents[index] as RankedDocument) } } : result;
    });
    const { search_units: units, total_tokens: tokens } = used;
    return {
      id,
      model,
      provider,
      results,
      // Clients of Voyage AI read these.
      ...(topK == null ? {} : { object: 'list', data: results.map(withText) }),
      usage: used,
      // Clients of Cohere want it.
      meta: { billed_units: units === undefined ? { input_tokens: tokens } : { search_units: units } },
    };
  }

  parametersOf() {
    return {};
  }

  #batch({ quirks }: Provider, { upstreamModel }: Endpoint): RerankBatch {
    const { query, top_n: topN, top_k: topK } = this.fields;
    return { query, documents: this.#documents, topN: topN ?? topK ?? null, upstreamModel, quirks };
  }
}

/** A result as Voyage AI has it: its document is a text. */
function withText({ document, ...result }: RerankResult['results'][number]) {
  return document === undefined ? result : { ...result, document: document.text };
}

function codecOf({ dialect }: Provider): RerankCodec {
  return dialect.tasks?.rerank as RerankCodec;
}

function textOf(viewed: Viewed): string {
  if (typeof viewed === 'string') return viewed;
  const text = viewed.find(({ type }) => type === 'text')?.text;
  return typeof text === 'string' ? text : '';
}

function documentOf(viewed: Viewed): RankedDocument {
  if (typeof viewed === 'string') return { text: viewed };
  const { url } = (viewed.find(({ type }) => type === 'image_url')?.image_url ?? {}) as { url?: unknown };
  return { text: textOf(viewed), ...(typeof url === 'string' ? { image: url } : {}) };
}

/**
 * Counts a ranking. A reranker reads the query with each document. Search units are those of the reranker that splits
 * documents the most.
 */
function boundOf(query: string, documents: readonly RankedDocument[]): TaskBound {
  const counter = new ItemCounter();
  const ofQuery = counter.text(query);
  let parts = 0;
  // Some providers count the query once: no fewer tokens than that can be true.
  const { most, typical, kinds, images } = ofQuery;
  const again = new ItemCount(most, 0, typical, kinds, images);
  const counts = documents.flatMap(({ text, image }, at): ItemCount[] => {
    const count =
      image === undefined
        ? counter.text(text)
        : counter.parts([
            { type: 'text', text },
            { type: 'image_url', image_url: { url: image } },
          ]);
    parts += Math.max(1, Math.ceil(count.most / tokensPerPart));
    return [at === 0 ? ofQuery : again, count];
  });
  return boundOfItems(counts, { search_unit: Math.ceil(parts / documentsPerUnit) });
}

/** Returns the bound in the unit that an endpoint sells: search units where it has a price of them, else tokens. */
function soldBy({ pricing }: Endpoint, bound: TaskBound): TaskBound {
  if (pricing?.unitsPicoUsd?.search_unit === undefined) return { ...bound, units: {} };
  return { ...bound, tokens: 0, leastTokens: 0, typicalTokens: 0 };
}
