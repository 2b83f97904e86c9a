// docs/interface-differences.md, from docs/openapi.json and the reference document. `npm run docs` writes it.
import { readFileSync } from 'node:fs';
import { type Difference, differences } from './interface-differences.ts';
import { documentPath } from './openapi-document.ts';
import { projectRoot } from './source-program.ts';

/** Where it is written, from the project's folder. */
export const pagePath = 'docs/interface-differences.md';

/** Why something differs. */
interface Reason {
  heading: string;
  /** Said below the heading. */
  why: string;
  /** Of a text such as `GET /keys response data[].tags: only here`. The first reason that fits is the one. */
  of: RegExp;
}

const reasons: readonly Reason[] = [
  {
    heading: 'Operations that there are not',
    why: 'Credits and members are accounts of a hosted service. Here the host app keeps accounts; budgets limit spending.',
    of: /^\S+ \S+ operation /,
  },
  {
    heading: 'Statuses that more operations have',
    why: 'The reference lists the most usual refusals of each operation. These are possible everywhere: a wrong parameter (400), no key (401), a key without the permission (403), a thing of another workspace (404), the end of the time of a request (408), a body that is too large (413), not JSON (415) or contradicts itself (422), a store that is away (503), a plugin that takes too long (504).',
    of: / status \d+: only here$/,
  },
  {
    heading: 'Statuses that fewer operations have',
    why: 'Reading and managing asks no provider, so it costs nothing, has no rate limit and no provider that fails.',
    of: / status \d+: only in the reference$/,
  },
  {
    heading: 'Requests: taken in more forms',
    why: 'Clients write null for a field that they do not set, numbers for prices, and one condition without a list.',
    of: / request \S*: also /,
  },
  {
    heading: 'Requests: open lists of values',
    why: 'Values that the gateway does not know go to the provider, which may know them. A credential may be of any provider that the gateway has, also of one that the host app adds.',
    of: / request \S*: any value$/,
  },
  {
    heading: 'Requests: fields that are not looked at',
    why: 'The gateway takes them, does not check them, and forwards them as they are: parameters of tools and items that another party made. A server tool of the gateway checks its own parameters when it runs.',
    of: / request (?:tools|input)\[\]\S*: only in the reference$/,
  },
  {
    heading: 'Requests: stored prompts',
    why: 'The gateway keeps no prompts of its callers: 400.',
    of: / request prompt: only in the reference$/,
  },
  {
    heading: 'Requests: further fields',
    why: 'Limits and tags of keys, keys of a credential, what providers take besides, and what coding agents send.',
    of: / (?:request|parameter) \S*: only here$/,
  },
  {
    heading: 'Requests: stricter',
    why: 'What could have no effect is refused: a request without input, an image without an address, an item that a model could not read.',
    of: / request \S*: (?:never|required here|only)/,
  },
  {
    heading: 'Responses: further fields',
    why: 'What the gateway knows besides. Clients of the reference ignore fields that they do not know.',
    of: / response \S*: only here$/,
  },
  {
    heading: 'Events: what they hold',
    why: 'An event is described as one form with its type. Error events and the provider’s own events pass as well.',
    of: / event /,
  },
  {
    heading: 'Responses: open lists of values',
    why: 'Providers, modalities, parameters and states come from the catalogue and from providers, which may add new ones.',
    of: / response \S*: any value$/,
  },
  {
    heading: 'Responses: echoed fields and items that pass',
    why: 'A response repeats fields of its request, and items of a provider’s own tools pass as they came. The schema names the fields that the gateway itself makes.',
    of: /^POST \/responses response \S*: only in the reference$/,
  },
  {
    heading: 'Responses: what nobody here knows',
    why: 'Benchmarks, voices, formats of instructions, discounts, datacenters and the ids of other services: the value is null where the reference allows it, and the field is left out otherwise.',
    of: /^GET \S+ response \S*: (?:only in the reference|never)/,
  },
  {
    heading: 'Responses: narrower',
    why: 'Nothing is stored or queued, an error has a usage, and a field that the reference leaves open has a list of values here.',
    of: / response \S*: (?:never|only)/,
  },
  {
    heading: 'Responses: wider',
    why: 'A client of the reference meets these as well.',
    of: / response \S*: (?:also|may be absent here)/,
  },
];

/** The page. @throws Error for a difference that no reason explains, and for a reason without one */
export function writePage(all: readonly Difference[]): string {
  const byReason = new Map<Reason, Difference[]>(reasons.map((reason) => [reason, []]));
  for (const one of all) {
    const text = textOf(one);
    const reason = reasons.find(({ of }) => of.test(text));
    if (!reason) throw new Error(`scripts/interface-differences-page.ts has no reason for: ${text}`);
    byReason.get(reason)?.push(one);
  }
  const unused = reasons.filter((reason) => byReason.get(reason)?.length === 0);
  if (unused.length > 0) throw new Error(`No difference has the reason ${unused.map(({ heading }) => heading)}`);
  const sections = [...byReason].map(([{ heading, why }, found]) => `## ${heading}\n\n${why}\n\n${table(found)}`);
  return `${intro}\n${sections.join('\n\n')}\n`;
}

const intro = `# Where the interface differs from the reference

The reference is the public description of the widely used wire format. [openapi.json](openapi.json) describes what this gateway
does; \`GET /openapi.json\` returns it. A script compares the two, operation by operation and field by field, and this page is
its output: a test fails where it is out of date, or where a difference has no reason.

Operations that only the gateway has are in openapi.json alone. A response that always has a field, which the reference
lets be absent, is no difference; nor is an optional field of a request.
`;

function textOf({ operation, place, field, what }: Difference): string {
  return `${operation} ${place} ${field}: ${what}`;
}

/** A row for all fields that differ in the same way, in the same operations. */
function table(found: readonly Difference[]): string {
  const operationsOf = new Map<string, { one: Difference; operations: string[] }>();
  for (const one of found) {
    const key = JSON.stringify([one.place, one.field, one.what]);
    const entry = operationsOf.get(key) ?? { one, operations: [] };
    entry.operations.push(one.operation);
    operationsOf.set(key, entry);
  }
  const rows = new Map<string, { what: string; operations: readonly string[]; fields: string[] }>();
  for (const { one, operations } of operationsOf.values()) {
    const key = JSON.stringify([one.what, operations]);
    const row = rows.get(key) ?? { what: one.what, operations, fields: [] };
    if (one.field !== '') row.fields.push(one.field);
    rows.set(key, row);
  }
  const code = (text: string) => `\`${text}\``;
  const lines = [...rows.values()].map(
    ({ what, operations, fields }) =>
      `| ${fields.map(code).join(', ') || 'all'} | ${what} | ${operations.map(code).join(', ')} |`,
  );
  return ['| Where | Difference | Operations |', '|---|---|---|', ...lines].join('\n');
}

/** @param referencePath  of the reference document */
export function currentPage(referencePath: string): string {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  return writePage(differences(read(`${projectRoot}/${documentPath}`), read(referencePath)));
}
