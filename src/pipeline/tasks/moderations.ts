import { lazily } from '../../base/lazily.ts';
import type { Endpoint } from '../../call/model.ts';
import type { Lack, ModerationResult, ModerationsBatch, ModerationsCodec } from '../../dialects/tasks/contract.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Needs } from '../../routing/needs.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { ModerationsRequest } from '../../schema/moderations/request.ts';
import type { ModerationsResult } from '../../schema/moderations/result.ts';
import type { Task, TaskProgress } from '../task/task.ts';
import { boundOfItems, ItemCounter } from './counting.ts';
import { fieldsOf, hasImages, itemsOf, needsOf, type Viewed, viewOf } from './view.ts';
import { WholeProgress } from './whole.ts';

/** Makes the task of a request for a moderation. */
export function moderationsTask(request: ModerationsRequest): Task {
  return new ModerationsTask(request);
}

class ModerationsTask implements Task {
  readonly name = 'moderations';
  readonly hasModelFallbacks = true;
  readonly hasOpaqueInput = false;
  readonly parameters: readonly string[] = [];
  readonly fields: ModerationsRequest;
  readonly #bound = lazily(() => {
    const counter = new ItemCounter();
    return boundOfItems(
      this.#viewed().map((one) => (typeof one === 'string' ? counter.text(one) : counter.parts(one))),
    );
  });

  constructor(fields: ModerationsRequest) {
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
    const { input } = this.fields;
    const [only] = items;
    const isList = Array.isArray(input) && typeof input[0] === 'string';
    const changed = (isList ? items : only) as ModerationsRequest['input'];
    return new ModerationsTask({ ...fieldsOf(this.fields, view), input: changed });
  }

  lacks(provider: Provider, endpoint: Endpoint): Lack | null {
    return codecOf(provider).lacks(this.#batch(provider, endpoint));
  }

  begin(): TaskProgress {
    const bound = this.#bound();
    return new WholeProgress<readonly ModerationResult[]>(
      (provider, endpoint) => {
        const codec = codecOf(provider);
        const batch = this.#batch(provider, endpoint);
        return { bound, encode: () => codec.encode(batch), decode: (body) => codec.decode(body, batch) };
      },
      (results, { id, model }): ModerationsResult => ({ id, model, results: results as ModerationsResult['results'] }),
    );
  }

  parametersOf() {
    return {};
  }

  #batch({ quirks }: Provider, { upstreamModel }: Endpoint): ModerationsBatch {
    return { input: this.fields.input, upstreamModel, quirks };
  }

  /** A text each; parts are one input. */
  #viewed(): readonly Viewed[] {
    const { input } = this.fields;
    if (typeof input === 'string') return [input];
    return typeof input[0] === 'string' ? (input as string[]) : [input as Exclude<Viewed, string>];
  }
}

function codecOf({ dialect }: Provider): ModerationsCodec {
  return dialect.tasks?.moderations as ModerationsCodec;
}
