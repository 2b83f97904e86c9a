import { isObject } from '../../../base/values.ts';
import { gatewayFieldNames } from '../../../schema/gateway-shape.ts';
import { camelName, fieldOf } from '../../../schema/gemini/fields.ts';
import type { GeminiRequest } from '../../../schema/gemini/request.ts';
import { isStoredName } from '../../../schema/gemini/stored.ts';
import type { Leftover } from '../../leftover.ts';

/** Members with words, code, schemas and bytes. A name in these is only a text. */
const texts: ReadonlySet<string> = new Set([
  'text',
  'thoughtSignature',
  'functionCall',
  'response',
  'executableCode',
  'codeExecutionResult',
  'functionDeclarations',
  'responseSchema',
  'responseJsonSchema',
  'responseFormat',
  'stopSequences',
  'data',
  'displayName',
  'labels',
  'model',
  ...gatewayFieldNames,
]);

const expected = 'an endpoint of Google with a credential of your own, to whose account it belongs';

/**
 * Notes what a request names of an account of Google's: caches, files, stores of files and of documents. The gateway's own
 * account holds what other callers have stored, so that its credential is used for none of them.
 */
export function noteStored(request: GeminiRequest, leftover: Leftover): void {
  const need = (path: string) => leftover.need(path, expected, { isStored: true });
  if (fieldOf(request, 'cachedContent') !== undefined) need('cachedContent');
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      if (isStoredName(value)) need(path);
    } else if (Array.isArray(value)) value.forEach((one, at) => void walk(one, `${path}[${at}]`));
    else if (isObject(value))
      for (const name in value) {
        const field = camelName(name);
        if (!texts.has(field) && !texts.has(name) && !(path === '' && field === 'cachedContent'))
          walk(value[name], path === '' ? field : `${path}.${field}`);
      }
  };
  walk(request, '');
}
