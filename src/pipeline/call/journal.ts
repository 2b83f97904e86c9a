import type { SearchResult } from '../../call/search.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { Annotation } from '../citations/annotate.ts';

/** Everything that happened in a call beside its generations, for its metadata, its record and its citations. */
export class CallJournal {
  readonly #stages: PipelineStage[] = [];
  readonly #foundPages: SearchResult[] = [];
  #annotations: Annotation[] = [];
  #sentBodies: Record<string, unknown>[] = [];
  #webSearches = 0;
  #toolCalls = 0;
  #toolRuns = 0;

  /** The work of plugins and guardrails, in order. */
  get stages(): readonly PipelineStage[] {
    return this.#stages;
  }

  /** The pages that searches of this call have found. More may come. */
  get foundPages(): readonly SearchResult[] {
    return this.#foundPages;
  }

  /** true: plugins have added annotations that are not delivered yet. */
  get hasAnnotations(): boolean {
    return this.#annotations.length > 0;
  }

  addStage(stage: PipelineStage): void {
    this.#stages.push(stage);
  }

  /** Adds a stage, unless there is one that says the same. */
  addStageOnce(stage: PipelineStage): void {
    const isThere = this.#stages.some(({ type, summary }) => type === stage.type && summary === stage.summary);
    if (!isThere) this.#stages.push(stage);
  }

  addAnnotations(annotations: readonly Annotation[]): void {
    this.#annotations.push(...annotations);
  }

  /** Returns the annotations that are not delivered yet, once. */
  takeAnnotations(): Annotation[] {
    const taken = this.#annotations;
    this.#annotations = [];
    return taken;
  }

  /** Keeps the body of an attempt, for a caller who asked to see it. */
  noteSentBody(body: Record<string, unknown>): void {
    this.#sentBodies.push(body);
  }

  /** Returns the bodies that the caller has not seen yet, once. */
  takeSentBodies(): readonly Record<string, unknown>[] {
    const taken = this.#sentBodies;
    this.#sentBodies = [];
    return taken;
  }

  /** Notes a search that the gateway has made. */
  noteSearch(found: readonly SearchResult[]): void {
    this.#webSearches++;
    this.#foundPages.push(...found);
  }

  /** Notes calls of server tools that a model has made. */
  noteToolCalls(calls: number): void {
    this.#toolCalls += calls;
  }

  /** Notes that a server tool runs. */
  noteToolRun(): void {
    this.#toolRuns++;
  }

  /** Returns the work beside models, to be added to their usage. */
  usages(): Usage[] {
    const usages: Usage[] = [];
    if (this.#toolCalls > 0) {
      const counts = { tool_calls_requested: this.#toolCalls, tool_calls_executed: this.#toolRuns };
      usages.push({ ...noTokens, server_tool_use_details: counts });
    }
    if (this.#webSearches > 0)
      usages.push({ ...noTokens, server_tool_use_details: { web_search_requests: this.#webSearches } });
    return usages;
  }
}

/** The usage of work that needs no model. */
export const noTokens: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
