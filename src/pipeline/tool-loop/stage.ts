import { nanoToUsd } from '../../base/money.ts';
import type { GenerationLog, ServerToolUse } from '../../call/generation.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { CallJournal } from '../call/journal.ts';

/** A server tool that runs, or has run. */
export interface OpenUse extends ServerToolUse {
  nanoUsd: number;
  readonly sources: string[];
}

/**
 * The stage of the server tools of one response, in the metadata and the record. It is there from the first call on,
 * also where the response then fails. It is written when somebody reads it: the cost of a tool may be known later.
 */
export class LoopStage {
  readonly #journal: CallJournal;
  readonly #uses: OpenUse[] = [];
  #isShown = false;
  /** Responses of the model. */
  steps = 0;
  /** The condition that has stopped the loop while the model wanted to go on; null: none has. */
  stopped: string | null = null;

  constructor(journal: CallJournal) {
    this.#journal = journal;
  }

  /** Notes the end of a response of the model. @param calls  the number of calls of server tools in it */
  ended(calls: number): void {
    this.steps++;
    this.#journal.noteToolCalls(calls);
    if (calls === 0 || this.#isShown) return;
    this.#isShown = true;
    this.#journal.addStage(this.#shown);
  }

  /** Notes that a tool begins to run. @param log  the log of the response in which it was called */
  runs(name: string, log: GenerationLog): OpenUse {
    const use: OpenUse = { name, nanoUsd: 0, sources: [] };
    this.#uses.push(use);
    this.#journal.noteToolRun();
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
