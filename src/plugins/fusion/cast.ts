import { type GatewayError, isGatewayError } from '../../base/errors.ts';
import { refusal } from '../../base/refusal.ts';
import type { PlanningContext } from '../../call/hooks.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { fusionDepthHeader } from './depth.ts';
import { panelRequest } from './requests.ts';
import type { FusionPreset, FusionSettings, FusionTool, PanelTools } from './settings.ts';
import { noTools, panelToolsOf, toolsFor } from './tools.ts';

/** The settings of the plugin in a request, as the schema of the interface has checked them. */
export interface FusionRequest {
  model?: string;
  analysis_models?: string[];
  max_tool_calls?: number;
  preset?: FusionPreset;
  tools?: FusionTool[];
}

/** The models and their tasks. */
export interface Cast {
  analysisModels: readonly string[];
  /** The tools that analysis models may call. */
  tools: PanelTools;
  /** The tools of each analysis model: some have none. */
  toolsOf: readonly PanelTools[];
  /** The model that compares and writes. */
  model: string;
  /** Models of the settings that this gateway does not have, or that may not serve this request. */
  unavailable: readonly string[];
  preset: FusionPreset | null;
}

/**
 * Decides which models answer, compare and write, before any of them is called.
 * @throws GatewayError invalid_request (400) naming the field that is wrong
 */
export async function castOf(
  settings: FusionSettings,
  request: ChatRequest,
  context: PlanningContext<FusionRequest>,
): Promise<Cast> {
  const { options } = context;
  const path = pathOf(request);
  checkPossible(request, context);
  const { analysis_models: named, preset } = options;
  const source = preset === undefined ? settings.models : settings.presets[preset];
  const maxCalls = options.max_tool_calls ?? settings.maxToolCalls;
  const tools = await panelToolsOf(settings, options.tools, maxCalls, context, path);
  const ofPanel = tools.isNamed ? tools : noTools;
  const look = (model: string, its = ofPanel) => lookUp(request, context, model, its);
  const unavailable: string[] = [];
  const available = async (model: string, its?: PanelTools) => {
    const isAvailable = (await look(model, its)) === null;
    if (!isAvailable) unavailable.push(model);
    return isAvailable;
  };

  const analysisModels: string[] = [];
  let firstThatServes: string | null = null;
  let excluded: GatewayError | null = null;
  for (const [at, model] of (named ?? source.analysisModels).entries()) {
    if (named === undefined) {
      if (!(await available(model))) continue;
      firstThatServes ??= model;
    } else {
      const error = await look(model);
      if (error?.kind === 'invalid_request') throw invalid(`${path}.analysis_models[${at}]`, error.message);
      if (error === null) firstThatServes ??= model;
      excluded ??= error;
    }
    analysisModels.push(model);
  }
  if (firstThatServes === null) throw excluded ?? noneAvailable(path, preset);

  let model = firstThatServes;
  if (options.model !== undefined) {
    const error = await look(options.model, noTools);
    // The model is checked before the analysis models are paid for.
    if (error !== null) throw error.kind === 'invalid_request' ? invalid(`${path}.model`, error.message) : error;
    model = options.model;
  } else if (source.model !== undefined && (await available(source.model, noTools))) model = source.model;
  const toolsOf: PanelTools[] = [];
  for (const one of analysisModels) toolsOf.push(await toolsFor(tools, request, one, context));
  return { analysisModels, tools, toolsOf, model, unavailable: [...new Set(unavailable)], preset: preset ?? null };
}

function noneAvailable(path: string, preset: FusionPreset | undefined): GatewayError {
  const of = preset === undefined ? 'the default models' : `the models of ${preset}`;
  return invalid(`${path}.analysis_models`, `expected models of this gateway: of ${of} none is available`);
}

/** @throws GatewayError invalid_request (400) for a wish that the plugin cannot serve: nothing is silently ignored */
function checkPossible(request: ChatRequest, { call, native }: PlanningContext): void {
  const depth = call.header?.(fusionDepthHeader) ?? '';
  if (depth !== '' && depth !== '0')
    throw invalid(fusionDepthHeader, 'expected no request of another fusion: fusion does not run inside fusion');
  if ((request.plugins?.filter(({ id, enabled }) => id === 'fusion' && enabled !== false).length ?? 0) > 1)
    throw invalid('plugins', 'expected the plugin fusion once');
  if (native?.purpose === 'compact')
    throw invalid('plugins', 'expected no plugin fusion where a conversation is compacted');
  const [unreadable] = native?.onlyNative ?? [];
  if (unreadable !== undefined)
    throw invalid(unreadable.path, 'expected what every model can read, as the plugin fusion asks several');
}

/**
 * Returns the error of a model that cannot serve: invalid_request, there is no such model; not_found, no endpoint may
 * serve this request. null: it can, as far as anybody knows before it is called.
 */
async function lookUp(
  request: ChatRequest,
  { plan }: PlanningContext,
  model: string,
  tools: PanelTools,
): Promise<GatewayError | null> {
  try {
    await plan(panelRequest(request, model, tools));
    return null;
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    const isUnknown = error.kind === 'invalid_request' && error.metadata?.model !== undefined;
    if (isUnknown || error.kind === 'not_found') return error;
    // A cooldown ends, and another model may serve meanwhile.
    if (error.kind === 'unavailable') return null;
    throw error;
  }
}

/** Returns the path of the plugin's settings in the request. */
function pathOf({ plugins }: ChatRequest): string {
  const at = plugins?.findIndex(({ id, enabled }) => id === 'fusion' && enabled !== false) ?? -1;
  return `plugins[${Math.max(at, 0)}]`;
}

function invalid(path: string, message: string): GatewayError {
  return refusal('invalid_request', [{ path, message }]);
}
