// The defaults of the options, from their schemas, as a module. `npm run docs` writes it; a test fails where it differs.
import { optionsSchema } from '../src/options.ts';

export const defaultsPath = 'src/setup/options/defaults.ts';

/** The module with the defaults. */
export function defaultsModule(): string {
  const { apiKeys: _, ...defaults } = optionsSchema().parse({ apiKeys: [{ key: 'a-key-for-the-check' }] });
  return `// Written by \`npm run docs\` from the schemas of the options: to make them only for their defaults would take most of the
// time of \`createGateway\`.

/** The options that have a default, as the schema of all options fills them in. A new object each time. */
export function optionDefaults(): object {
  return ${literal(defaults, '  ')};
}
`;
}

/** A value as source text, in the project's format. */
function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'number') return String(value).replace(/\B(?=(?:\d{3})+$)/g, '_');
  if (Array.isArray(value)) return `[${value.map((one) => literal(one, indent)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const lines = Object.entries(value).filter(([, one]) => one !== undefined);
  if (lines.length === 0) return '{}';
  const members = lines.map(([name, one]) => `${indent}  ${name}: ${literal(one, `${indent}  `)},\n`);
  return `{\n${members.join('')}${indent}}`;
}
