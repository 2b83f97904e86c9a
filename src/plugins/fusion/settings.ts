import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import type { ChatTool } from '../../schema/chat/chat.ts';
import { pluginDefaults } from '../../schema/chat/plugins.ts';
import { checkedSettings, field } from '../../schema/host-object.ts';

/** A named set of models. */
export interface FusionModels {
  /** Models that answer in parallel, 1 to 8 slugs. */
  analysisModels: readonly string[];
  /** The model that compares their answers and writes the response. Default: the first of `analysisModels`. */
  model?: string | undefined;
}

/** A server tool that analysis models may call. */
export interface FusionTool {
  /** The type of the tool, such as `service:web_search`. */
  type: string;
  /** Settings of the tool, as in `tools` of a request. */
  parameters?: Record<string, unknown> | undefined;
}

/** The tools that analysis models may call. */
export interface PanelTools {
  tools: readonly ChatTool[];
  /** The most calls of one analysis model; further ones are not run. */
  maxCalls: number;
  /** true: the request names them. false: a model that takes no tools gets none. */
  isNamed: boolean;
  /** The types of tools of the settings that are not there, or that the workspace may not use. */
  unavailable: readonly string[];
}

export const fusionPresets = ['general-high', 'general-budget', 'general-fast'] as const;
/** The name of a set of models that is built in. */
export type FusionPreset = (typeof fusionPresets)[number];

/** Settings of the plugin `fusion`; all have a default. */
export interface FusionOptions {
  /** Models that answer where a request names neither models nor a preset, 1 to 8 slugs. */
  analysisModels?: readonly string[] | undefined;
  /** The model that compares and writes where a request names none for it. Default: the first analysis model. */
  model?: string | undefined;
  /** The models of presets, each in place of the built-in ones. */
  presets?: Partial<Record<FusionPreset, FusionModels>> | undefined;
  /** The number of analysis models that are called at once. Default 8. */
  concurrency?: number | undefined;
  /** The number of analysis models that must answer; where a request has fewer, all of them must. Default 1. */
  minAnswers?: number | undefined;
  /**
   * The most that the judge and the writer get of one answer, and the writer of the comparison: UTF-8 bytes of its
   * JSON, in the longest of the normal forms that tokenizers use. So no answer is more tokens than that. Default 24,000.
   */
  answerBytes?: number | undefined;
  /** The largest output of the judge, in tokens. Default 4,000. */
  judgeMaxTokens?: number | undefined;
  /**
   * The server tools that analysis models are offered where a request names none; `[]`: none. Tools that the gateway
   * does not have are left out. Default: web search and web fetch, where the gateway has a search engine.
   */
  tools?: readonly FusionTool[] | undefined;
  /** The most calls of tools of one analysis model that are run, where a request sets no number, 1 to 16. Default 8. */
  maxToolCalls?: number | undefined;
}

export interface FusionSettings {
  models: FusionModels;
  presets: Record<FusionPreset, FusionModels>;
  concurrency: number;
  minAnswers: number;
  answerBytes: number;
  judgeMaxTokens: number;
  /** null: web search and web fetch, where the gateway has a search engine. */
  tools: readonly FusionTool[] | null;
  maxToolCalls: number;
}

/** The models for requests that name none, as the interface names them. */
const defaultModels = ['~anthropic/claude-opus-latest', '~openai/gpt-latest', '~google/gemini-pro-latest'];
const smallModels = ['~anthropic/claude-haiku-latest', '~openai/gpt-mini-latest', '~google/gemini-flash-latest'];
const quickModels = ['~google/gemini-flash-latest', '~openai/gpt-mini-latest'];

const shape = lazily(() => {
  const panel = { analysisModels: z.array(field.text()).min(1).max(8), model: field.text().optional() };
  return {
    analysisModels: panel.analysisModels.optional(),
    model: panel.model,
    presets: z
      .strictObject(Object.fromEntries(fusionPresets.map((name) => [name, z.strictObject(panel).optional()])))
      .optional(),
    concurrency: field.count(1).optional(),
    minAnswers: field.count(1).optional(),
    answerBytes: field.count(1).optional(),
    judgeMaxTokens: field.count(1).optional(),
    tools: z.array(field.object()).max(8).optional(),
    maxToolCalls: field.count(1).max(16).optional(),
  };
});

/** @throws GatewayError invalid_request (400) naming every option that is wrong */
export function fusionSettings(given: FusionOptions): FusionSettings {
  const options = checkedSettings('fusion', given, shape);
  const { analysisModels = defaultModels, model, presets } = options;
  return {
    models: model === undefined ? { analysisModels } : { analysisModels, model },
    presets: {
      'general-high': { analysisModels: defaultModels },
      'general-budget': { analysisModels: smallModels },
      'general-fast': { analysisModels: quickModels },
      ...presets,
    },
    concurrency: options.concurrency ?? 8,
    minAnswers: options.minAnswers ?? 1,
    answerBytes: options.answerBytes ?? 24_000,
    judgeMaxTokens: options.judgeMaxTokens ?? 4_000,
    tools: options.tools ?? null,
    maxToolCalls: options.maxToolCalls ?? pluginDefaults.fusion.max_tool_calls,
  };
}
