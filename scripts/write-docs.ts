// `npm run docs`: writes the pages, or parts of pages, that are made from the source.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { currentPage, pagePath } from './interface-differences-page.ts';
import { documentPath, writeDocument } from './openapi-document.ts';
import { optionRows, writeTables } from './option-tables.ts';
import { projectRoot, sourceProgram } from './source-program.ts';

const program = sourceProgram();

const optionsPage = `${projectRoot}/docs/options.md`;
writeFileSync(optionsPage, writeTables(readFileSync(optionsPage, 'utf8'), optionRows(program)));

writeFileSync(`${projectRoot}/${documentPath}`, await writeDocument(program));

const reference = `${projectRoot}/../shared/interface/reference-openapi.json`;
if (existsSync(reference)) writeFileSync(`${projectRoot}/${pagePath}`, currentPage(reference));
else console.warn(`${pagePath} is not written: it needs the reference document, ${reference}`);
