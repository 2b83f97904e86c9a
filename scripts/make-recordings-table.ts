// Counts the recordings that the tests replay, and writes the table of them into docs/providers.md:
// `node scripts/make-recordings-table.ts`. The recordings lie beside the project, and are no part of it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dialects } from '../src/dialects/index.ts';

/** One file of the manifest. */
export interface RecordedFile {
  file: string;
  provider: string;
  /** What the provider spoke; the manifest has words of its own for dialects. */
  dialect: string;
  kind: readonly string[];
}

/** How recordings of a dialect are used: the dialect here and the test that replays them, or why there is none. */
export type Use = { dialect: string; test: string } | { reason: string };

/** By the name that the manifest has for a dialect. */
export const uses: Readonly<Record<string, Use>> = {
  'openai-chat': { dialect: 'openai-chat', test: 'test/flow/recordings.test.ts' },
  'openrouter-chat': { dialect: 'openai-chat', test: 'test/flow/recordings-extended-chat.test.ts' },
  'mistral-chat': { dialect: 'openai-chat', test: 'test/flow/recordings-extended-chat.test.ts' },
  'anthropic-messages': {
    dialect: 'anthropic-messages',
    test: 'test/flow/recordings-anthropic-messages.test.ts',
  },
  'google-generate-content': {
    dialect: 'google-generate-content',
    test: 'test/flow/recordings-google-generate-content.test.ts',
  },
  'bedrock-converse': { dialect: 'bedrock-converse', test: 'test/flow/recordings-bedrock-converse.test.ts' },
  'cohere-v2-chat': { dialect: 'cohere-chat', test: 'test/flow/recordings-cohere.test.ts' },
  'openai-responses': { dialect: 'openai-responses', test: 'test/flow/recordings-openai-responses.test.ts' },
  'ollama-chat': { reason: "Ollama's own format; Ollama is spoken to as chat completions" },
};

/** Whether the gateway speaks the dialect that the recordings of a name are replayed by. */
export function isSpoken(use: Use): use is Extract<Use, { test: string }> {
  return 'test' in use && Object.hasOwn(dialects, use.dialect);
}

/** The columns of the table: heading, and the kind that a file must have. */
const columns: readonly (readonly [heading: string, kind: string | null])[] = [
  ['Files', null],
  ['JSON', 'non_stream'],
  ['Streams', 'stream'],
  ['Tool calls', 'tool_call'],
  ['Reasoning', 'reasoning'],
  ['Errors', 'error'],
];

/** How many files are replayed, by provider and dialect, and in which kinds; one file may be of several kinds. */
export function countReplayed(
  files: readonly RecordedFile[],
): { provider: string; dialect: string; counts: number[] }[] {
  const replayed = files.flatMap((one) => {
    const use = Object.hasOwn(uses, one.dialect) ? uses[one.dialect] : undefined;
    return use && isSpoken(use) ? [{ ...one, dialect: use.dialect }] : [];
  });
  const groups = Map.groupBy(replayed, ({ provider, dialect }) => `${provider} ${dialect}`);
  return [...groups.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, members]) => {
      const [{ provider, dialect }] = members as [RecordedFile];
      const counts = columns.map(
        ([, kind]) => members.filter((one) => kind === null || one.kind.includes(kind)).length,
      );
      return { provider, dialect, counts };
    });
}

const begin = '<!-- made by scripts/make-recordings-table.ts from here -->';
const end = '<!-- to here, by make-recordings-table -->';

/** The page with its table made anew; what stands around it is kept. */
export function withRecordings(page: string, files: readonly RecordedFile[]): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/providers.md needs the lines ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${table(files)}\n\n${page.slice(to)}`;
}

function table(files: readonly RecordedFile[]): string {
  const rows = countReplayed(files);
  const sums = columns.map((_, at) => rows.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0));
  return [
    `| Provider | Dialect | ${columns.map(([heading]) => heading).join(' | ')} |`,
    `|---|---|${'---|'.repeat(columns.length)}`,
    ...rows.map(({ provider, dialect, counts }) => `| ${provider} | \`${dialect}\` | ${counts.join(' | ')} |`),
    `| all | | ${sums.join(' | ')} |`,
  ].join('\n');
}

const file = fileURLToPath(import.meta.url);
if (process.argv[1] === file) {
  const root = join(file, '..', '..');
  const path = join(root, 'docs', 'providers.md');
  const manifest = JSON.parse(readFileSync(join(root, '..', 'shared', 'fixtures', 'manifest.json'), 'utf8'));
  writeFileSync(path, withRecordings(readFileSync(path, 'utf8'), manifest.files));
}
