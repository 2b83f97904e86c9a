/** The form that a name or an id must have. */
export interface TextRule {
  /** Matches what fits. */
  readonly fits: RegExp;
  /** Matches each run of characters that may not stand there; with the flag `g`. */
  readonly others: RegExp;
  /** The most characters. */
  readonly longest: number;
  /** Matches a beginning that may not be; an underscore is put before it. */
  readonly badStart?: RegExp;
  /** true: what does not fit becomes a text of exactly `longest` letters and digits, in which nothing of it can be read. */
  readonly isHash?: boolean;
}

/**
 * The conversations that a model at a provider accepts: data, made of the rules of the dialect, of the provider and of the
 * model. What the dialect itself has no word for is not said here.
 */
export interface Profile {
  /** `first`: instructions are one message, at the beginning. */
  readonly instructions: 'anywhere' | 'first';
  /** The role that speaks first, behind the instructions. */
  readonly opens: 'anyone' | 'user';
  /** `alternate`: two messages of a user, or of the assistant, do not stand in a row. */
  readonly turns: 'free' | 'alternate';
  /** true: a user does not speak right behind results of tools. */
  readonly bridgesResults: boolean;
  /** true: results stand in the order of their calls. */
  readonly ordersResults: boolean;
  /** The texts that are refused: none, those without a character, those without a visible one. */
  readonly refusedTexts: 'none' | 'empty' | 'blank';
  /** The texts that are refused among those at which the response stops. */
  readonly refusedStops: 'empty' | 'blank';
  /** false: results of tools are text alone; what else they hold goes into a message of the user behind them. */
  readonly resultMedia: boolean;
  /** The form of the ids of tool calls. Each is given once in a conversation. */
  readonly toolIds: TextRule;
  /** The form of the names of tools. */
  readonly toolNames: TextRule;
  /** The key under which arguments that are no JSON object are put into one. */
  readonly brokenArguments: string;
}

/** Letters, digits, `_` and `-`: what most servers take in a name. */
function words(longest: number): TextRule {
  return { fits: new RegExp(`^[A-Za-z0-9_-]{1,${longest}}$`), others: /[^A-Za-z0-9_-]+/g, longest };
}

/** Any visible character of ASCII: the ids of some models have dots and colons, and must come back as they were. */
function visible(longest: number): TextRule {
  return { fits: new RegExp(`^[\\x21-\\x7e]{1,${longest}}$`), others: /[^\x21-\x7e]+/g, longest };
}

const nineSigns: TextRule = { fits: /^[A-Za-z0-9]{9}$/, others: /[^A-Za-z0-9]+/g, longest: 9, isHash: true };

/** @see https://platform.openai.com/docs/api-reference/chat/create "tools.function.name" */
const usualNames = words(64);

/**
 * Chat completions that every server accepts: the templates of many models refuse instructions behind the beginning, two
 * turns of one side, and an assistant that speaks first.
 */
export const everyChatServer: Profile = {
  instructions: 'first',
  opens: 'user',
  turns: 'alternate',
  bridgesResults: false,
  ordersResults: false,
  refusedTexts: 'empty',
  refusedStops: 'empty',
  resultMedia: false,
  toolIds: visible(40),
  toolNames: usualNames,
  brokenArguments: 'arguments',
};

/** Chat completions where order and roles are free, as at OpenAI. */
export const freeChat: Profile = {
  ...everyChatServer,
  instructions: 'anywhere',
  opens: 'anyone',
  turns: 'free',
  refusedTexts: 'none',
};

/**
 * Chat completions of Mistral's models.
 * @see https://docs.mistral.ai/capabilities/function_calling
 */
export const bridgedChat: Profile = { ...everyChatServer, bridgesResults: true, toolIds: nineSigns };

/** The profile for ids that a server has made itself and wants back as they were, however long. */
export const longIds: Pick<Profile, 'toolIds'> = { toolIds: visible(512) };
export const shortIds: Pick<Profile, 'toolIds'> = { toolIds: nineSigns };

/** A Claude, whoever serves it, refuses to stop at a text without a visible character. */
export const claude: Pick<Profile, 'refusedStops'> = { refusedStops: 'blank' };

/** @see https://platform.openai.com/docs/api-reference/responses/create "input", "tools" */
export const responses: Profile = {
  ...freeChat,
  resultMedia: true,
  toolIds: visible(64),
};

/** @see https://platform.claude.com/docs/en/api/messages/create */
export const anthropic: Profile = {
  ...freeChat,
  ...claude,
  opens: 'user',
  refusedTexts: 'blank',
  resultMedia: true,
  toolIds: { ...words(64), fits: /^[A-Za-z0-9_-]+$/ },
};

/**
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
 */
export const bedrock: Profile = {
  ...anthropic,
  refusedStops: 'empty',
  toolIds: words(64),
};

/** @see https://ai.google.dev/api/caching#FunctionDeclaration */
export const google: Profile = {
  ...freeChat,
  opens: 'user',
  ordersResults: true,
  refusedTexts: 'empty',
  resultMedia: true,
  toolNames: {
    fits: /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/,
    others: /[^A-Za-z0-9_.-]+/g,
    longest: 64,
    badStart: /^[^A-Za-z_]/,
  },
};

/** @see https://docs.cohere.com/reference/chat "tools.function.name" */
export const cohere: Profile = {
  ...freeChat,
  refusedTexts: 'empty',
  toolNames: { fits: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/, others: /[^A-Za-z0-9_]+/g, longest: 64, badStart: /^[^A-Za-z_]/ },
};

/** Models of any provider: their adapters refuse what the provider would. */
export const aiSdk: Profile = {
  ...everyChatServer,
  turns: 'free',
  refusedTexts: 'blank',
  resultMedia: true,
  toolIds: words(40),
  toolNames: { ...usualNames, fits: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, badStart: /^[^A-Za-z_]/ },
  brokenArguments: 'rawInvalidInput',
};
