import { GatewayError } from '../base/errors.ts';
import { didYouMean, nearest } from '../base/text/nearest.ts';

/** Operations that other servers of this wire format have, and this one has not, by the first part of their paths. */
const elsewhere: readonly string[] = [
  'assistants',
  'audio',
  'batches',
  'containers',
  'evals',
  'files',
  'fine_tuning',
  'realtime',
  'threads',
  'uploads',
  'vector_stores',
  'videos',
];

/** Paths that clients ask first, in the order in which they are named. */
const usual: readonly string[] = ['/chat/completions', '/responses', '/models'];

/**
 * Makes the error for a path at which nothing is. It says what was probably meant: no client can read the documentation.
 * @param paths     paths of the operations
 * @param isServed  tells whether an operation is at a path
 */
export function nothingAt(path: string, paths: readonly string[], isServed: (path: string) => boolean): GatewayError {
  return new GatewayError('not_found', `There is nothing at this path${hintFor(path, paths, isServed)}`);
}

/**
 * Returns the error for a call of a model that only Google's API has, such as `:predict`; null: the path is none. Below
 * `/models/` is a model, to whose path only other methods of HTTP belong.
 */
export function missingCall(path: string): GatewayError | null {
  const [, call] = /^\/models\/.+:(\w{1,40})$/.exec(path) ?? [];
  if (call === undefined) return null;
  const served = 'generateContent, streamGenerateContent, countTokens, embedContent, batchEmbedContents and explain';
  return new GatewayError('not_found', `This gateway does not serve ${call} of a model; it serves ${served}`);
}

function hintFor(path: string, paths: readonly string[], isServed: (path: string) => boolean): string {
  const [, version, rest] = /^(\/(?:api\/)?v\d[a-z\d]*)(\/.*)$/.exec(path) ?? [];
  if (rest !== undefined && isServed(rest))
    return `: ${version} belongs to the base URL of the client, and is in the path once too often`;
  const tidied = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  if (tidied !== path && isServed(tidied)) return `; without the superfluous slash, it is ${tidied}`;
  const [, first = ''] = path.split('/', 2);
  const served = usual.filter((one) => paths.includes(one)).join(', ');
  if (elsewhere.includes(first) && !paths.some((one) => one.startsWith(`/${first}`)))
    return `: this gateway does not serve /${first}. It serves ${served} and more, which GET /openapi.json lists`;
  const near = nearest(
    path,
    paths.filter((one) => !one.includes(':')),
    { max: 1 },
  );
  return near.length > 0 ? didYouMean(near) : `. It serves ${served} and more, which GET /openapi.json lists`;
}
