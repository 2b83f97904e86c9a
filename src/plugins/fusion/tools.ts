import { isGatewayError } from '../../base/errors.ts';
import { nanoToUsd } from '../../base/money.ts';
import { refusal } from '../../base/refusal.ts';
import type { PlanningContext } from '../../call/hooks.ts';
import type { ChatRequest, ChatTool } from '../../schema/chat/chat.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import { panelRequest } from './requests.ts';
import type { FusionSettings, FusionTool, PanelTools } from './settings.ts';

export const noTools: PanelTools = { tools: [], maxCalls: 0, isNamed: false, unavailable: [] };

/**
 * The search tool where a request names none. Each model has its own number of calls, so that one does not use up the
 * pages of another.
 */
const search: FusionTool = { type: 'service:web_search', parameters: { max_total_results: 1000 } };
const fetchPage: FusionTool = { type: 'service:web_fetch', parameters: { max_uses: 1000 } };

/**
 * Decides which server tools analysis models are offered.
 * @param named  `tools` of the request; undefined: it names none
 * @param path   the path of the plugin in the request
 * @throws GatewayError invalid_request (400) for a tool of the request that cannot be offered, permission_denied (403)
 * for a service of the operator that the workspace may not use
 */
export async function panelToolsOf(
  { tools: own }: Pick<FusionSettings, 'tools'>,
  named: readonly FusionTool[] | undefined,
  maxCalls: number,
  context: PlanningContext<unknown>,
  path: string,
): Promise<PanelTools> {
  if (named !== undefined) {
    for (const [at, tool] of named.entries()) await checkNamed(tool, `${path}.tools[${at}]`, context);
    return { tools: named as readonly ChatTool[], maxCalls, isNamed: true, unavailable: [] };
  }
  // A host app without a search engine has not thought of tools: analysis models then answer without any.
  if (own === null && (await refusalOf(search, context)) === 'invalid_request') return noTools;
  const tools: FusionTool[] = [];
  const unavailable: string[] = [];
  for (const tool of own ?? [search, fetchPage]) {
    if ((await refusalOf(tool, context)) === null) tools.push(tool);
    else unavailable.push(tool.type);
  }
  return { tools: tools as ChatTool[], maxCalls, isNamed: false, unavailable };
}

async function checkNamed(tool: FusionTool, path: string, context: PlanningContext<unknown>): Promise<void> {
  if (tool.type === 'function')
    throw refusal('invalid_request', [
      { path: `${path}.type`, message: 'expected a server tool: nobody would answer a function for an analysis model' },
    ]);
  try {
    await context.checkServerTools({ tools: [tool as ChatTool] });
  } catch (error) {
    if (!isGatewayError(error) || error.kind !== 'invalid_request') throw error;
    const issues = error.metadata?.issues as readonly { path: string; message: string }[] | undefined;
    throw refusal(
      'invalid_request',
      issues?.map((issue) => ({ ...issue, path: issue.path.replace(/^tools\[0\]/, path) })) ?? [
        { path: `${path}.type`, message: error.message },
      ],
    );
  }
}

/** Returns the reason why a tool of the settings is left out; null: it can be offered. */
async function refusalOf(tool: FusionTool, context: PlanningContext<unknown>): Promise<string | null> {
  try {
    await context.checkServerTools({ tools: [tool as ChatTool] });
    return null;
  } catch (error) {
    if (!isGatewayError(error) || !['invalid_request', 'permission_denied'].includes(error.kind)) throw error;
    return error.kind;
  }
}

/** Returns the tools' part of an explanation: the searches of all models, at their highest price. */
export function toolsStage(
  { tools, maxCalls }: PanelTools,
  models: number,
  { priceOfSearch }: Pick<PlanningContext, 'priceOfSearch'>,
): PipelineStage {
  const searches = tools.filter(({ type }) => type.endsWith('web_search'));
  const prices = searches.map(({ parameters }: FusionTool) => {
    const { engine, max_results: maxResults } = (parameters ?? {}) as { engine?: string; max_results?: number };
    return priceOfSearch({ query: '', engine: engine === 'auto' ? undefined : engine, maxResults });
  });
  return {
    type: 'plugin',
    name: 'fusion',
    summary: `each of ${models} analysis models may make ${maxCalls} calls of tools`,
    data: { tools: tools.map(({ type }) => type), max_tool_calls: maxCalls },
    cost_usd: nanoToUsd(Math.max(0, ...prices) * maxCalls * models),
  };
}

/** Returns the tools for one model: none where it is known to take none, unless the request names them. */
export async function toolsFor(
  offered: PanelTools,
  request: ChatRequest,
  model: string,
  { plan }: Pick<PlanningContext, 'plan'>,
): Promise<PanelTools> {
  if (offered.isNamed || offered.tools.length === 0) return offered;
  try {
    const { targets } = await plan(panelRequest(request, model, offered));
    const mayTake = ({ supportedParameters: known }: (typeof targets)[number]['endpoint']) =>
      known === null || known.includes('tools');
    return targets.some(({ endpoint }) => mayTake(endpoint)) ? offered : noTools;
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return error.kind === 'not_found' ? noTools : offered;
  }
}
