import type { Clock } from '../base/clock.ts';
import { StopSwitch } from '../base/stop.ts';
import { defaultWorkspaceId, parseWorkspaceId } from '../call/workspace.ts';
import { type BodyLimits, checkBody } from '../http/body.ts';
import { type ExplainChatCompletionDeps, explainChatCompletion } from '../operations/explain-chat-completion.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { Explanation } from '../schema/explanation.ts';

/** For whom a request is explained. */
export interface ExplainFor {
  /** Id of the workspace whose budgets, credentials and defaults count. Default: the default workspace. */
  workspace?: string;
}

/** @returns what POST /chat/completions/explain answers as `data` */
export type Explain = (body: unknown, of?: ExplainFor) => Promise<Explanation>;

/** The operation, for the host app, who needs no key to ask. */
export function createExplainer(deps: ExplainChatCompletionDeps, clock: Clock, limits: BodyLimits): Explain {
  const operation = explainChatCompletion(deps);
  return async (given, { workspace = defaultWorkspaceId } = {}) => {
    const workspaceId = parseWorkspaceId(workspace);
    if (workspaceId === null) throw new TypeError('explain: workspace is not the id of a workspace');
    const caller = {
      permissions: ['inference' as const],
      apiKeyHash: null,
      workspaceId,
      managesAll: false,
      keyLimit: null,
      rateLimits: undefined,
      userId: null,
    };
    const headers = new Headers();
    const reply = await operation.run({
      body: checkBody(given, operation, limits, headers) as ChatRequest,
      query: null,
      params: {},
      basePath: '',
      caller,
      headers,
      signal: new StopSwitch(),
      receivedAtMs: clock.now(),
      authenticatedAtMs: clock.now(),
    });
    return ((reply as { body: unknown }).body as { data: Explanation }).data;
  };
}
