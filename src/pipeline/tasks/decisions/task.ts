import { lazily } from '../../../base/lazily.ts';
import type { Endpoint } from '../../../call/model.ts';
import type { DecisionsBatch, DecisionsCodec, DecisionsFound, Lack } from '../../../dialects/tasks/contract.ts';
import type { TaskBound } from '../../../pricing/task-cost.ts';
import type { Provider } from '../../../providers/provider.ts';
import type { Needs } from '../../../routing/needs.ts';
import type { ChatRequest, Usage } from '../../../schema/chat/chat.ts';
import type { DecisionsRequest } from '../../../schema/decisions/request.ts';
import type { DecisionsResult } from '../../../schema/decisions/result.ts';
import type { Task, TaskHead, TaskProgress } from '../../task/task.ts';
import { boundOfItems, ItemCounter } from '../counting.ts';
import { fieldsOf, hasImages, itemsOf, needsOf, type Viewed, viewOf } from '../view.ts';
import { WholeProgress } from '../whole.ts';
import { viewedOf, withTexts } from './texts.ts';

/** Makes the task of a request for decisions. */
export function decisionsTask(request: DecisionsRequest): Task {
  return new DecisionsTask(request);
}

class DecisionsTask implements Task {
  readonly name = 'decisions';
  /** The answers of a response are of one model, whichever it is. */
  readonly hasModelFallbacks = true;
  readonly isSoldByInput = true;
  readonly hasOpaqueInput = false;
  readonly parameters: readonly string[] = [];
  readonly fields: DecisionsRequest;
  readonly #viewed = lazily(() => viewedOf(this.fields));
  readonly #bound = lazily(() => boundOf(this.#viewed()));

  constructor(fields: DecisionsRequest) {
    this.fields = fields;
  }

  get needs(): Needs {
    return needsOf({ modalities: hasImages(this.#viewed()) ? ['image'] : [] });
  }

  get typicalTokens(): number {
    return this.#bound().typicalTokens;
  }

  view(): ChatRequest {
    return viewOf(this.fields, this.#viewed());
  }

  withView(view: ChatRequest): Task {
    const items = itemsOf(view, this.#viewed().length);
    let at = 0;
    return new DecisionsTask(withTexts(fieldsOf(this.fields, view), () => items[at++] as Viewed));
  }

  lacks(provider: Provider, endpoint: Endpoint): Lack | null {
    return codecOf(provider).lacks(this.#batch(provider, endpoint));
  }

  begin(): TaskProgress {
    const bound = this.#bound();
    return new WholeProgress<DecisionsFound>((provider, endpoint) => {
      const codec = codecOf(provider);
      const batch = this.#batch(provider, endpoint);
      return { bound, encode: () => codec.encode(batch), decode: (body) => codec.decode(body, batch) };
    }, resultOf);
  }

  parametersOf() {
    return {};
  }

  #batch({ quirks }: Provider, { upstreamModel }: Endpoint): DecisionsBatch {
    const { input, questions } = this.fields;
    const { prompt_cache_key, prompt_cache_options, safety_identifier } = this.fields;
    return {
      input,
      questions,
      wishes: { prompt_cache_key, prompt_cache_options, safety_identifier },
      upstreamModel,
      quirks,
    };
  }
}

function codecOf({ dialect }: Provider): DecisionsCodec {
  return dialect.tasks?.decisions as DecisionsCodec;
}

function boundOf(viewed: readonly Viewed[]): TaskBound {
  const counter = new ItemCounter();
  return boundOfItems(
    viewed.flatMap((one) => (typeof one === 'string' ? [counter.text(one)] : one.map((part) => counter.parts([part])))),
  );
}

function resultOf({ answers, counted }: DecisionsFound, { id, model }: TaskHead, usage: Usage): DecisionsResult {
  const { prompt_tokens: input, completion_tokens: _, total_tokens: __, prompt_tokens_details: ___, ...cost } = usage;
  return {
    id,
    model,
    answers: [...answers],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: counted.cached, cache_write_tokens: counted.written },
      output_tokens: counted.output,
      output_tokens_details: { reasoning_tokens: counted.reasoning },
      total_tokens: input + counted.output,
      ...(cost as Partial<DecisionsResult['usage']>),
    },
  };
}
