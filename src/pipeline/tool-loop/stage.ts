import { nanoToUsd } from '../../base/money.ts';
import type { GenerationLog, ServerToolUse } from '../../call/generation.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { CallRun } from '../call/run.ts';

/** A server tool that runs, or has run. */
export interface OpenUse extends ServerToolUse {
  nanoUsd: number;
  readonly sources: string[];
}

/**
 * What the metadata and the record say of the server tools of one response. It is there from the first call on, also
 * where the response then fails, and is written where somebody reads it: what a tool has cost may be known later.
 */
export class LoopStage {
  readonly #run: Pick<CallRun, 'toolCalls' | 'stages'>;
  readonly #uses: OpenUse[] = [];
  #isShown = false;
  /** Responses of the model. */
  steps = 0;
  /** What has stopped the loop while the model wanted to go on; null: nothing. */
  stopped: string | null = null;

  constructor(run: Pick<CallRun, 'toolCalls' | 'stages'>) {
    this.#run = run;
  }

  /** A response of the model has ended. @param calls  of server tools, in it */
  ended(calls: number): void {
    this.steps++;
    this.#run.toolCalls.requested += calls;
    if (calls === 0 || this.#isShown) return;
    this.#isShown = true;
    this.#run.stages.push(this.#shown);
  }

  /** A tool begins to run. @param log  of the response in which it was called */
  runs(name: string, log: GenerationLog): OpenUse {
    const use: OpenUse = { name, nanoUsd: 0, sources: [] };
    this.#uses.push(use);
    this.#run.toolCalls.executed++;
    (log.serverTools as ServerToolUse[]).push(use);
    return use;
  }

  get #shown(): PipelineStage {
    const stage = this;
    return {
      type: 'server_tools',
      name: 'server-tools',
      get summary() {
        const stopped = stage.stopped === null ? '' : `, stopped by ${stage.stopped}`;
        return `${stage.steps} steps, ${stage.#uses.length} calls${stopped}`;
      },
      get data() {
        const calls: Record<string, number> = {};
        for (const { name } of stage.#uses) calls[name] = (calls[name] ?? 0) + 1;
        const stopped = stage.stopped === null ? {} : { stopped_by: stage.stopped };
        return { mode: 'sdk', steps: stage.steps, calls, ...stopped };
      },
      get cost_usd() {
        return nanoToUsd(stage.#uses.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0));
      },
    };
  }
}
