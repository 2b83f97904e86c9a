import { describe, expect, it } from 'vitest';
import { optionPages, optionRows, writePages } from '../../scripts/option-tables.ts';
import { createTypePrinter } from '../../scripts/print-types.ts';
import { projectRoot, sourceProgram } from '../../scripts/source-program.ts';
import { undocumentedMembers } from '../../scripts/undocumented.ts';
import { publicEntries } from '../../tsup.config.ts';
import { readDoc } from './markdown.ts';

const program = sourceProgram();
const pages = optionPages.map((name) => readDoc(`docs/${name}.md`));
const rows = optionRows(program);

describe('the tables of the pages of options', () => {
  it('are what `npm run docs` writes from the comments of the options', { timeout: 60_000 }, () => {
    expect(writePages(pages, rows)).toEqual(pages);
  });
  it('are not written for an option without a comment, which is named', () => {
    const silent = rows.map((row) => (row.path === 'retry.maxAttempts' ? { ...row, meaning: '' } : row));
    expect(() => writePages(pages, silent)).toThrow('no comment in their schema: retry.maxAttempts');
  });
  it('are not written without a section for each option', () => {
    const more = [...rows, { ...(rows[0] as (typeof rows)[number]), path: 'novelty.option' }];
    expect(() => writePages(pages, more)).toThrow('no section with a table for novelty.');
  });
});

describe('the declarations of the package', () => {
  const printer = createTypePrinter(program, projectRoot);
  const printed = (path: string) => {
    const file = printer.ours.find(({ fileName }) => fileName.endsWith(`/${path}`));
    if (!file) throw new Error(`There is no ${path}`);
    return printer
      .editsOf(file)
      .map(({ text }) => text)
      .join('\n');
  };
  it('show the comment and the default of an option, and call types by their names', { timeout: 60_000 }, () => {
    const options = printed('src/options.ts');
    expect(options).toContain(
      'The longest time of a store call; then the request fails with 503.\n   * @default 250\n',
    );
    expect(options).toContain('  models?: ModelOptions[] | undefined;');
    expect(options).toContain('  providers?: Providers | undefined;');
    expect(options).not.toMatch(/\bz\./);
    expect(printed('src/setup/options/types.ts')).toContain('  endpoints: EndpointOptions[];');
    expect(printed('src/setup/options/types.ts')).toContain('  provider: ProviderSlug;');
  });
  it('complete the slugs of the providers that are built in', () => {
    expect(printed('src/providers/index.ts')).toMatch(/BuiltInSlug = .*"openai"/);
  });
  it('have a comment for every name and member that a host app can see', { timeout: 60_000 }, () => {
    expect(undocumentedMembers(program, Object.values(publicEntries))).toEqual([]);
  });
});
