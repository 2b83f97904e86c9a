/** A text of a client: a file of source, of settings, or a body of a request. */
export interface ClientText {
  /** Shown in the report. */
  path: string;
  text: string;
}

/** A thing that was found, with its place. */
export interface Found {
  value: string;
  /** The path and the line. */
  where: string;
}

/** The findings in the texts of a client. */
export interface Scan {
  /** Names of models, each once, in order. */
  models: readonly Found[];
  /** Providers that preferences name. */
  providers: readonly Found[];
  /** Places of the address of the hosted router. */
  addresses: readonly Found[];
  /** Places of presets, which are in the account there. */
  presets: readonly Found[];
  /** The place at which a search of the web is asked for; null: none. */
  search: Found | null;
  /** true: some text names the hosted router. */
  isOfRouter: boolean;
}

/** Authors of models at hosted routers. Others are found by their names in the catalogue. */
const authors = new Set([
  'ai21',
  'aion-labs',
  'alibaba',
  'allenai',
  'amazon',
  'anthracite-org',
  'anthropic',
  'arcee-ai',
  'baidu',
  'bytedance',
  'bytedance-seed',
  'cognitivecomputations',
  'cohere',
  'deepseek',
  'google',
  'gryphe',
  'ibm-granite',
  'inception',
  'inflection',
  'kwaipilot',
  'liquid',
  'mancer',
  'meta-llama',
  'microsoft',
  'minimax',
  'mistralai',
  'moonshotai',
  'morph',
  'nousresearch',
  'nvidia',
  'openai',
  'openrouter',
  'perplexity',
  'qwen',
  'relace',
  'sao10k',
  'stepfun',
  'tencent',
  'thedrummer',
  'x-ai',
  'xiaomi',
  'z-ai',
]);

const modelName = /(["'`=\s])(~?([a-z0-9][a-z0-9-]*)\/([a-z0-9][\w.-]*(?::[a-z]+)*))(?=["'`\s]|$)/gim;
const importBefore = /(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*$/;
/** A list of preferences, such as `order: ['openai', 'azure']`. */
const preference = /["']?\b(?:order|only)\b["']?\s*[:=]\s*\[([^\]]{0,500})\]/g;
const address = /https:\/\/openrouter\.ai\/api\/v1\b/g;
const preset = /(["'`])(@preset\/[\w.-]{1,80})\1/g;
const searching = /["'`]?\bid["'`]?\s*[:=]\s*["'`]web["'`]/g;

/** Looks through texts. What is found is names of models and providers, and no secret. */
export function scan(texts: readonly ClientText[]): Scan {
  const models = new Map<string, Found>();
  const providers = new Map<string, Found>();
  const addresses: Found[] = [];
  const presets: Found[] = [];
  let search: Found | null = null;
  let isOfRouter = false;
  for (const { path, text } of texts) {
    const lineOf = lineFinder(text);
    const at = (index: number) => `${path}:${lineOf(index)}`;
    isOfRouter ||= /openrouter/i.test(text);
    for (const match of text.matchAll(modelName)) {
      const [, before = '', value = '', author = '', name = ''] = match;
      // `openai/resources` is a module, `google/gemini-2.5-pro` a model.
      const isModel = authors.has(author.toLowerCase()) && (/[-\d]/.test(name) || author === 'openrouter');
      const isImport = importBefore.test(text.slice(Math.max(0, match.index - 20), match.index + before.length - 1));
      if (isModel && !isImport && !/\.(?:[cm]?[jt]sx?|py|json|md)$/.test(name) && !models.has(value))
        models.set(value, { value, where: at(match.index + before.length) });
    }
    for (const match of text.matchAll(preference))
      for (const [, value = ''] of (match[1] ?? '').matchAll(/["'`]([\w ./-]{1,60})["'`]/g))
        if (!value.includes('/') || /^[a-z0-9-]+\/[a-z0-9-]+$/.test(value))
          if (!providers.has(value)) providers.set(value, { value, where: at(match.index) });
    for (const match of text.matchAll(address)) addresses.push({ value: match[0], where: at(match.index) });
    for (const match of text.matchAll(preset)) presets.push({ value: match[2] ?? '', where: at(match.index) });
    const [first] = text.matchAll(searching);
    if (first && search === null) search = { value: 'web', where: at(first.index) };
  }
  return { models: [...models.values()], providers: [...providers.values()], addresses, presets, search, isOfRouter };
}

/** Finds the line of a place. */
function lineFinder(text: string): (index: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (index) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= index) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
