import type { Endpoint } from '../../call/model.ts';
import type { EncodedTask, TaskUsage } from '../../dialects/tasks/contract.ts';
import type { TaskBound } from '../../pricing/task-cost.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import type { TaskBatch, TaskHead, TaskProgress } from '../task/task.ts';

/** The one request of a task, as a provider takes it. */
export interface WholeRequest<Found> {
  /** The most that it uses. */
  readonly bound: TaskBound;
  /** Makes the request. */
  encode(): EncodedTask;
  /** Reads the response. @throws UpstreamError bad_response */
  decode(body: unknown, headers: Readonly<Record<string, string>>): { found: Found; usage: TaskUsage | null };
}

/** The result of a task that comes in one response: it is there, or it is not. */
export class WholeProgress<Found> implements TaskProgress {
  readonly #requestTo: (provider: Provider, endpoint: Endpoint) => WholeRequest<Found>;
  readonly #resultOf: (found: Found, head: TaskHead, usage: Usage) => unknown;
  #found: { readonly value: Found } | null = null;

  constructor(
    requestTo: (provider: Provider, endpoint: Endpoint) => WholeRequest<Found>,
    resultOf: (found: Found, head: TaskHead, usage: Usage) => unknown,
  ) {
    this.#requestTo = requestTo;
    this.#resultOf = resultOf;
  }

  restart(): void {
    this.#found = null;
  }

  missing(provider: Provider, endpoint: Endpoint): readonly TaskBatch[] {
    if (this.#found !== null) return [];
    const { bound, encode, decode } = this.#requestTo(provider, endpoint);
    return [
      {
        bound,
        encode,
        take: (body, headers) => {
          const { found, usage } = decode(body, headers);
          this.#found = { value: found };
          return usage;
        },
      },
    ];
  }

  result(head: TaskHead, usage: Usage): unknown {
    return this.#resultOf((this.#found as { value: Found }).value, head, usage);
  }
}
