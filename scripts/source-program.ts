import { dirname } from 'node:path';
import ts from 'typescript';

/** The project's folder. */
export const projectRoot = dirname(import.meta.dirname);

/** A program of all files of `src` and `adapters`. */
export function sourceProgram(): ts.Program {
  const { config } = ts.readConfigFile(`${projectRoot}/tsconfig.json`, ts.sys.readFile);
  const settings = { ...config, include: ['src', 'adapters'] };
  const { options, fileNames } = ts.parseJsonConfigFileContent(settings, ts.sys, projectRoot);
  return ts.createProgram(fileNames, options);
}
