// `npm run docs`: writes the pages, or parts of pages, that are made from the source.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { currentPage, pagePath } from './interface-differences-page.ts';
import { documentPath, writeDocument } from './openapi-document.ts';
import { optionPages, optionRows, writePages } from './option-tables.ts';
import { projectRoot, sourceProgram } from './source-program.ts';
import { defaultsModule, defaultsPath } from './write-defaults.ts';

writeFileSync(`${projectRoot}/${defaultsPath}`, defaultsModule());

const program = sourceProgram();

const paths = optionPages.map((name) => `${projectRoot}/docs/${name}.md`);
const pages = writePages(
  paths.map((path) => readFileSync(path, 'utf8')),
  optionRows(program),
);
for (const [at, page] of pages.entries()) writeFileSync(paths[at] as string, page);

writeFileSync(`${projectRoot}/${documentPath}`, await writeDocument(program));

const reference = `${projectRoot}/../shared/interface/reference-openapi.json`;
if (existsSync(reference)) writeFileSync(`${projectRoot}/${pagePath}`, currentPage(reference));
else console.warn(`${pagePath} is not written: it needs the reference document, ${reference}`);
