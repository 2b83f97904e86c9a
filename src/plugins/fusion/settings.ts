import type { ChatTool } from '../../schema/chat/chat.ts';
import { pluginDefaults } from '../../schema/chat/plugins.ts';

/** A named set of models. */
export interface FusionModels {
  /** Models that answer in parallel, 1 to 8 slugs. */
  analysisModels: readonly string[];
  /** The model that compares their answers and writes the response. Default: the first of `analysisModels`. */
  model?: string;
}

/** A server tool that analysis models may call. */
export interface FusionTool {
  /** The type of the tool, such as `service:web_search`. */
  type: string;
  /** Settings of the tool, as in `tools` of a request. */
  parameters?: Record<string, unknown>;
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
  analysisModels?: readonly string[];
  /** The model that compares and writes where a request names none for it. Default: the first analysis model. */
  model?: string;
  /** The models of presets, each in place of the built-in ones. */
  presets?: Partial<Record<FusionPreset, FusionModels>>;
  /** The number of analysis models that are called at once. Default 8. */
  concurrency?: number;
  /** The number of analysis models that must answer; where a request has fewer, all of them must. Default 1. */
  minAnswers?: number;
  /**
   * The most that the judge and the writer get of one answer, and the writer of the comparison: UTF-8 bytes of its
   * JSON, in the longest of the normal forms that tokenizers use. So no answer is more tokens than that. Default 24,000.
   */
  answerBytes?: number;
  /** The largest output of the judge, in tokens. Default 4,000. */
  judgeMaxTokens?: number;
  /**
   * The server tools that analysis models are offered where a request names none; `[]`: none. Tools that the gateway
   * does not have are left out. Default: web search and web fetch, where the gateway has a search engine.
   */
  tools?: readonly FusionTool[];
  /** The most calls of tools of one analysis model that are run, where a request sets no number, 1 to 16. Default 8. */
  maxToolCalls?: number;
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

/** @throws TypeError naming an option that is wrong */
export function fusionSettings(options: FusionOptions): FusionSettings {
  const { analysisModels = defaultModels, model, presets } = options;
  const wholeNumber = (name: string, value: number) => {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new TypeError(`fusion.${name}: expected a whole number from 1`);
    return value;
  };
  const settings: FusionSettings = {
    models: model === undefined ? { analysisModels } : { analysisModels, model },
    presets: {
      'general-high': { analysisModels: defaultModels },
      'general-budget': { analysisModels: smallModels },
      'general-fast': { analysisModels: quickModels },
      ...presets,
    },
    concurrency: wholeNumber('concurrency', options.concurrency ?? 8),
    minAnswers: wholeNumber('minAnswers', options.minAnswers ?? 1),
    answerBytes: wholeNumber('answerBytes', options.answerBytes ?? 24_000),
    judgeMaxTokens: wholeNumber('judgeMaxTokens', options.judgeMaxTokens ?? 4_000),
    tools: options.tools ?? null,
    maxToolCalls: wholeNumber('maxToolCalls', options.maxToolCalls ?? pluginDefaults.fusion.max_tool_calls),
  };
  if (settings.maxToolCalls > 16) throw new TypeError('fusion.maxToolCalls: expected at most 16');
  if ((settings.tools?.length ?? 0) > 8) throw new TypeError('fusion.tools: expected at most 8 tools');
  checkCount('analysisModels', analysisModels);
  for (const preset of fusionPresets)
    checkCount(`presets.${preset}.analysisModels`, settings.presets[preset].analysisModels);
  return settings;
}

function checkCount(name: string, models: readonly string[]): void {
  if (models.length < 1 || models.length > 8) throw new TypeError(`fusion.${name}: expected 1 to 8 models`);
}
