import { joinBytes } from '../../base/bytes.ts';
import type { GatewayError } from '../../base/errors.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Target } from '../../call/plan.ts';
import type { TaskUsage } from '../../dialects/tasks/contract.ts';
import { observeEnd } from '../attempt/observe.ts';
import { noteRefusal } from '../call/refused.ts';
import type { Delivered } from '../deliver/client-source.ts';
import { inBand, shownOf } from '../deliver/shown.ts';
import { hasLeft } from '../generation/state.ts';
import { badStream } from '../stream/events.ts';
import type { TaskMade } from './attempt.ts';
import { type Served, servedOf } from './cost.ts';
import type { TaskGeneration } from './generation.ts';
import type { TaskRun } from './run.ts';
import type { TaskHead, TaskProgress, TaskStream } from './task.ts';

const encoder = new TextEncoder();
const nothing = new Uint8Array(0);

/** A streamed response of a task on its way. */
export interface TaskDeliveryInput {
  readonly run: TaskRun;
  readonly generation: TaskGeneration;
  readonly stream: TaskStream;
  readonly progress: TaskProgress;
  readonly head: TaskHead;
  /** The target that serves, with what its requests can cost. */
  readonly target: Target;
  /** The use of all that was taken. */
  readonly served: readonly Served[];
  readonly made: TaskMade;
}

/**
 * The response of a task on its way to the client, as the provider sends it: pulled, written in the client's format,
 * settled once. What was reported at its end is booked; of a response without an end the most that it can cost, where
 * money is held, else what is usual: a provider works on when nobody reads.
 */
export class TaskDelivery implements Delivered {
  readonly #input: TaskDeliveryInput;
  #usage: TaskUsage | null = null;
  #isClosed = false;
  /** The provider has sent all of its response, so that what it has reported counts. */
  #isDone = false;

  constructor(input: TaskDeliveryInput) {
    this.#input = input;
    input.generation.opened(input.target);
  }

  get contentType(): string | null {
    return this.#input.progress.contentType?.() ?? null;
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#isClosed) return null;
    const { open } = this.#input.made;
    const written: Uint8Array[] = [];
    try {
      if (open === null) return await this.#complete(written);
      const parts = await open.read();
      if (this.#isClosed) return null;
      if (parts === null) throw badStream('The provider broke off its response.');
      for (const part of parts) {
        if (part.kind === 'error') throw part.error;
        if (part.kind === 'usage') this.#usage = part.usage;
        if (part.kind === 'piece') written.push(await this.#bytesOf(part.piece));
        if (part.kind === 'done') return await this.#complete(written);
      }
      return joinBytes(written);
    } catch (error) {
      return this.#isClosed ? null : this.#broken(error, written);
    }
  }

  stop(): void {
    if (this.#isClosed) return;
    this.#settle({ outcome: 'cancelled', status: 499 });
    this.#input.run.finish({ outcome: 'cancelled', status: 499, error: null });
  }

  cut(reason: unknown): Uint8Array<ArrayBuffer> | null {
    return this.#isClosed ? null : this.#broken(reason, []);
  }

  async #bytesOf(piece: unknown): Promise<Uint8Array> {
    const { progress, head } = this.#input;
    const bytes = (await progress.piece?.(piece, head)) ?? nothing;
    return typeof bytes === 'string' ? encoder.encode(bytes) : bytes;
  }

  async #complete(written: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer> | null> {
    const { run, generation, progress, head, target, served, made } = this.#input;
    this.#isDone = true;
    await progress.checked?.();
    // The client may have left meanwhile.
    if (this.#isClosed) return null;
    this.#isClosed = true;
    made.open?.finish();
    const latest = this.#latest(this.#usage);
    const { usage } = generation.served(target, [...served, ...latest.slice(made.served.length)], latest);
    observeEnd(run.deps, target, 'ok', null, run.call.time.now());
    run.finish({ outcome: 'ok', status: 200, error: null });
    const metadata = run.metadata();
    const further = metadata === undefined ? {} : { [`${run.deps.brand}_metadata`]: metadata };
    const last = progress.last?.(head, usage, further) ?? nothing;
    return joinBytes([...written, typeof last === 'string' ? encoder.encode(last) : last]);
  }

  /** Ends a response that has failed. @throws GatewayError where its form has no place for an error */
  #broken(error: unknown, written: readonly Uint8Array[]): Uint8Array<ArrayBuffer> | null {
    const { run, target, stream, head } = this.#input;
    if (hasLeft(error)) {
      this.stop();
      return null;
    }
    const shown = shownOf(run, error, target);
    this.#settle({ outcome: 'cut', status: shown.status });
    if (error instanceof UpstreamError) observeEnd(run.deps, target, 'failed', null, run.call.time.now());
    run.finish({ outcome: 'cut', status: shown.status, error: { type: shown.errorType, message: shown.message } });
    if (stream.events === null || run.deps.streams.onCut === 'close') throw shown;
    return joinBytes([...written, encoder.encode(stream.events.failed(inBand(run, error, shown), head))]);
  }

  /** Settles a response without an end. */
  #settle(end: { outcome: 'cut' | 'cancelled'; status: number }): void {
    const { generation, target, served, made } = this.#input;
    this.#isClosed = true;
    made.open?.close();
    const latest = this.#latest(this.#isDone ? this.#usage : null);
    generation.served(target, [...served, ...latest.slice(made.served.length)], latest, end);
  }

  /** The use of the attempt that serves. */
  #latest(usage: TaskUsage | null): readonly Served[] {
    const { target, made } = this.#input;
    return made.open === null ? made.served : [...made.served, servedOf(target, made.open.batch, usage)];
  }
}

/**
 * Writes the end of a stream of events for a client that was sent a comment before the request failed.
 * @returns null: nobody is there to read it
 * @throws GatewayError where the option `streams.onCut` says `close`
 */
export function taskFailure(run: TaskRun, { events }: TaskStream, error: unknown): string | null {
  if (hasLeft(error) || events === null) return null;
  noteRefusal(run, error);
  const first = run.generation?.plan?.targets[0] ?? null;
  const shown: GatewayError = shownOf(run, error, first);
  if (run.deps.streams.onCut === 'close') throw shown;
  const head = {
    id: run.call.id,
    created: run.call.created,
    model: first?.endpoint.modelSlug ?? run.call.ask.request.model ?? '',
    provider: first?.providerName ?? '',
  };
  return events.failed(inBand(run, error, shown), head);
}
