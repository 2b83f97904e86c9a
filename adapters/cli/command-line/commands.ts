/** An option of a command. */
export interface Option {
  type: 'string' | 'boolean';
  /** The name of its value in the help, such as `FILE`. */
  value?: string;
  /** Lines for the help. */
  help: readonly string[];
}

/** A command: all that the help says, and all that the command line may hold. */
export interface Command {
  /** Its arguments in the help, such as `TEXT`. */
  arguments?: string;
  /** The most arguments, and the words for them in an error. Default: none. */
  most?: number;
  expected?: string;
  summary: string;
  options: Readonly<Record<string, Option>>;
  /** Further lines of its help. */
  notes?: readonly string[];
}

const config: Option = {
  type: 'string',
  value: 'FILE',
  help: ['.js, .mjs or .ts whose default export is the options of createGateway'],
};
const data: Option = {
  type: 'string',
  value: 'DIR',
  help: [
    'folder of the database and of the secret that seals provider keys',
    '(default: MODEL_GATEWAY_DATA, or .model-gateway; not used with a config file that gives a store)',
  ],
};
const url: Option = {
  type: 'string',
  value: 'U',
  help: ['address of a running gateway, such as http://127.0.0.1:8787/v1 (default: GATEWAY_URL, if it is set)'],
};
const key: Option = {
  type: 'string',
  value: 'K',
  help: ['a key of that gateway (default: GATEWAY_API_KEY, which other users of the machine do not see)'],
};
const json: Option = { type: 'boolean', help: ['prints the response as JSON'] };
const workspace: Option = { type: 'string', value: 'ID', help: ['id or slug of a workspace (default: default)'] };

/** The options that say which gateway a command asks. */
const asked = { url, key, config, data, json };
const askedNote = [
  'It asks the gateway at --url. Without an address, it opens the config file or the data folder itself, as serve does.',
];

/** The commands by name, in the order of the help. */
export const commands = {
  serve: {
    summary: 'serves the gateway over HTTP',
    options: {
      port: { type: 'string', value: 'N', help: ['port to listen on, 0 for any free one (default: PORT, or 8787)'] },
      host: {
        type: 'string',
        value: 'H',
        help: ['address to listen on (default: 127.0.0.1, which only this machine can reach)'],
      },
      config,
      data,
      cors: {
        type: 'string',
        value: 'ORIGINS',
        help: ['web sites whose pages may use it, separated by commas, or * for all (default: none)'],
      },
      'drain-ms': { type: 'string', value: 'N', help: ['how long a stop waits for open streams (default: 10000)'] },
      'grace-ms': {
        type: 'string',
        value: 'N',
        help: ['how long a stop first goes on taking requests, while /readyz says so (default: 0)'],
      },
      workers: {
        type: 'string',
        value: 'N',
        help: [
          'so many processes serve the same port, or auto: one for each core (default: this process alone).',
          'SIGHUP replaces them one after another, and no open stream is cut',
        ],
      },
      'no-console': { type: 'boolean', help: ['serves no console at /console'] },
      reference: { type: 'boolean', help: ['also serves a page about the interface, at /reference'] },
    },
    notes: ['SIGTERM and Ctrl-C let open streams finish; the second one cuts them. It then ends with 0.'],
  },
  chat: {
    arguments: 'TEXT',
    most: 1,
    expected: 'one message in quotes',
    summary: 'asks a model, and prints the response as it arrives',
    options: {
      model: {
        type: 'string',
        value: 'M',
        help: ['slug of a model (default: defaultModel or the first model of the config file, or sandbox/lorem)'],
      },
      config,
      url,
      key,
    },
  },
  init: { summary: 'asks two questions, and writes gateway.config.mjs and .env', options: {} },
  import: {
    arguments: 'FILE',
    most: 1,
    expected: 'one file or folder',
    summary: 'writes them for what you have of another gateway, and says what needs work',
    options: {
      from: {
        type: 'string',
        value: 'KIND',
        help: ['litellm, portkey, tensorzero or openrouter (default: as it looks)'],
      },
      out: { type: 'string', value: 'FILE', help: ['the config file to write (default: gateway.config.mjs)'] },
      'dry-run': { type: 'boolean', help: ['writes nothing, and prints what would be written'] },
      model: { type: 'string', value: 'NAMES', help: ['models that your clients ask for, where the file names none'] },
    },
    notes: [
      'Nothing is overwritten: what .env lacks is added to it. Secrets of the file move there, and are not printed.',
      'Exit code 0: nothing needs work; 1: something does, or nothing was written.',
    ],
  },
  doctor: {
    summary: 'checks the config, its store, providers and prices, and says what to do',
    options: {
      config,
      data,
      live: { type: 'boolean', help: ['asks each provider with a key for a few tokens'] },
      json: { type: 'boolean', help: ['prints the findings as JSON'] },
    },
    notes: ['Exit code 0: no problem; 1: a problem.'],
  },
  models: {
    arguments: '[MODEL]',
    most: 1,
    expected: 'one model',
    summary: 'lists the models that can be asked, or the endpoints of one',
    options: {
      search: { type: 'string', value: 'TEXT', help: ['only models with this in their name'] },
      ...asked,
    },
    notes: askedNote,
  },
  explain: {
    arguments: 'TEXT',
    most: 1,
    expected: 'one message in quotes',
    summary: 'says where a request would go, why, and what it would cost at most; asks no provider',
    options: { model: { type: 'string', value: 'M', help: ['slug of a model'] }, ...asked },
    notes: askedNote,
  },
  keys: {
    arguments: '[create NAME | disable HASH | enable HASH | delete HASH]',
    most: 2,
    expected: 'an action and a name or a hash',
    summary: 'lists the API keys, makes one, or ends one',
    options: {
      limit: { type: 'string', value: 'USD', help: ['the most that the new key may spend'] },
      reset: { type: 'string', value: 'INTERVAL', help: ['daily, weekly or monthly: when that limit begins again'] },
      management: { type: 'boolean', help: ['the new key may also manage the gateway'] },
      workspace,
      ...asked,
    },
    notes: [
      'Keys are shown by their hash and a masked label. create prints the new key once, alone on the standard output.',
      'A HASH may be shortened, as long as it is that of one key.',
      ...askedNote,
    ],
  },
  budgets: {
    arguments: '[set INTERVAL USD | delete INTERVAL]',
    most: 3,
    expected: 'an action, an interval and an amount',
    summary: 'lists the budgets of a workspace, sets one, or removes one',
    options: { workspace, ...asked },
    notes: ['INTERVAL is daily, weekly, monthly or lifetime.', ...askedNote],
  },
  usage: {
    summary: 'sums requests, tokens and costs',
    options: {
      by: {
        type: 'string',
        value: 'GROUPS',
        help: ['some of day, model, provider, key, workspace, user and tag, with commas', '(default: model)'],
      },
      from: { type: 'string', value: 'DATE', help: ['first day, such as 2026-01-31 (default: 30 days ago)'] },
      to: { type: 'string', value: 'DATE', help: ['the day behind the last one'] },
      sort: { type: 'string', value: 'COLUMN', help: ['cost, requests, failed, in or out: the highest first'] },
      top: { type: 'string', value: 'N', help: ['only the first rows (default order: cost)'] },
      workspace: { ...workspace, help: ['id of a workspace (default: all that the key may see)'] },
      ...asked,
    },
    notes: askedNote,
  },
  help: { arguments: '[COMMAND]', most: 1, expected: 'one command', summary: 'says more about a command', options: {} },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;
