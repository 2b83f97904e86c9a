import type { Call } from '../../call/call.ts';
import type { ResponseStep } from '../../call/hooks.ts';
import type { FollowedWork } from '../../call/trace.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { SafeFollower } from '../../telemetry/follow.ts';
import type { RequestRecord } from '../../telemetry/record.ts';
import type { PipelineDeps, WorkspaceDefaults } from '../deps.ts';
import { ContentCapture, wantsContent } from './content-capture.ts';
import { begunCallOf, type CallersWords, noWords, wordsOf } from './record.ts';

/** The most pieces of work that a record has: a loop of tools may make any number. */
const mostWork = 100;

const none: readonly FollowedWork[] = [];

/** Tells observers of a call, and keeps its words and its content for them, as far as they may have these. */
export class CallWatch {
  readonly #deps: Pick<PipelineDeps, 'record' | 'keepContent'>;
  readonly #call: Call;
  /** The follower of the call while it runs; null: there is none. */
  readonly follower: SafeFollower | null;
  /** In an object of its own, because the follower keeps it for longer than the call. */
  readonly #said: { words: CallersWords } = { words: noWords };
  #switches: WorkspaceDefaults | null = null;
  /** true: somebody wants to know how long plugins, guardrails and tools take. */
  readonly wantsWork: boolean;
  #work: FollowedWork[] | null = null;
  /** null: the content of the call is not looked at. */
  #capture: ContentCapture | null = null;
  /** true: the content is kept beside the record. */
  #keepsContent = false;

  /** @param isGuarded  true: words are known once guardrails have looked at them */
  constructor(deps: Pick<PipelineDeps, 'record' | 'keepContent' | 'follow'>, call: Call, isGuarded: boolean) {
    this.#deps = deps;
    this.#call = call;
    if (!isGuarded) this.#said.words = wordsOf(call.sessionId, call.ask.request);
    this.follower = deps.follow ? deps.follow(begunCallOf(call, this.#said)) : null;
    this.wantsWork = Boolean(deps.record) || this.follower !== null;
  }

  /** The work of plugins, guardrails and tools, in the order in which it ended; at most 100 pieces. */
  get work(): readonly FollowedWork[] {
    return this.#work ?? none;
  }

  /** Takes a piece of work that has ended. */
  worked(work: FollowedWork): void {
    this.#work ??= [];
    if (this.#work.length < mostWork) this.#work.push(work);
    this.follower?.worked(work);
  }

  /** The caller's words that records keep: none before guardrails have looked at them. */
  get words(): CallersWords {
    return this.#said.words;
  }

  /** The wishes of the workspace; null: not known. */
  get switches(): WorkspaceDefaults | null {
    return this.#switches;
  }

  /** The last step of a response, which sees its content; null: nobody wants the content. */
  get step(): ResponseStep | null {
    return this.#capture?.step ?? null;
  }

  /** Learns what the workspace wants to be recorded. @param isZdr  true: nothing may be kept of the content */
  noteWorkspace(defaults: WorkspaceDefaults, isZdr: boolean): void {
    this.#switches = defaults;
    this.#keepsContent = this.#deps.keepContent !== undefined && wantsContent(defaults, this.#call, isZdr);
    if (this.#keepsContent || (this.follower?.wantsContent && !isZdr)) this.#capture = new ContentCapture();
  }

  /** Guardrails have let the request pass. @param sessionId  the id of the session as they have left it */
  noteScreened(sessionId: string | null, request: ChatRequest): void {
    this.#said.words = wordsOf(sessionId, request);
  }

  /** Learns the request as hooks have left it. */
  noteAsked(request: ChatRequest): void {
    this.#capture?.asked(request);
  }

  /** The call is over. */
  ended(record: RequestRecord): void {
    const content = this.#capture?.content() ?? null;
    if (content !== null && this.#keepsContent) this.#deps.keepContent?.(record, content);
    this.follower?.ended(record, content);
    this.#deps.record?.(record);
  }
}
