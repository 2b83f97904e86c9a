import { cleanText } from '../../base/text/clean-text.ts';
import { isObject } from '../../base/values.ts';

const most = 20;

/**
 * Reads the warnings of a model on settings that it left out or changed, for people. Only the model knows them, once it
 * is called.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/shared/v4/shared-v4-warning.ts
 */
export function readWarnings(raw: unknown): string[] {
  if (!Array.isArray(raw)) return [];
  return raw
    .slice(0, most)
    .map(textOf)
    .filter((text) => text !== '');
}

function textOf(warning: unknown): string {
  if (!isObject(warning)) return '';
  const { type, feature, setting, details, message } = warning;
  const about = [feature, setting].find((one) => typeof one === 'string');
  const said = [details, message].find((one) => typeof one === 'string');
  const kind = typeof type === 'string' && type !== 'other' ? type : undefined;
  return cleanText([kind, about, said].filter((one) => one !== undefined).join(': '), 300);
}
