import { GatewayError } from '../base/errors.ts';
import { helloPath } from '../operations/get-hello.ts';

/** The place that a request asks for, below the mount. */
export interface Place {
  /** The path of an operation, such as `/messages`. */
  path: string;
  /** true: the path named `v1beta`, the version of clients that speak Gemini. */
  isBeta: boolean;
}

/** The calls of Gemini's wire format, which stand at the end of a path. */
export const geminiCall =
  /:(?:streamGenerateContent|generateContent|countTokens|explain|embedContent|batchEmbedContents)$/;

/** The path that Cohere's client appends to any address. Its body is that of `/rerank`; its other paths have shapes of their own. */
const cohereRerank = '/v2/rerank';

/**
 * Finds the place of a request below the mount. A client may be given the mount itself, or the root that it completes
 * with a version: `/ai`, then `/ai/v1/…` and `/ai/v1beta/…`. The version may stand twice, where both the base URL and the
 * client name it. A mount at `/v1` has its root beside it: `/v1beta/…` and the probes are served there as well.
 * @throws GatewayError not_found (404) outside of it
 */
export function placeOf(method: string, path: string, basePath: string): Place {
  const base = basePath === '/' ? '' : basePath;
  const rest = below(path, base);
  if (rest !== null) return probed(method, rest) ?? withoutVersion(rest);
  const root = base.endsWith('/v1') ? base.slice(0, -'/v1'.length) : null;
  const besides = root === null ? null : below(path, root);
  if (besides !== null) {
    const probe = probed(method, besides);
    if (probe !== null) return probe;
    if (besides.startsWith('/v1beta/') || besides === cohereRerank) return withoutVersion(besides);
  }
  throw new GatewayError('not_found', `There is nothing at this path; the gateway is mounted at ${basePath}`);
}

/** The part of a path below another one; null: it is not below. */
function below(path: string, base: string): string | null {
  if (base === '') return path;
  if (!path.startsWith(base) || (path.length > base.length && path[base.length] !== '/')) return null;
  return path.slice(base.length) || '/';
}

/** Clients warm a connection up with `HEAD /`, or with a request for a path that says hello. */
function probed(method: string, path: string): Place | null {
  const isProbe = path === helloPath || (method === 'HEAD' && (path === '/' || path === ''));
  return isProbe ? { path: helloPath, isBeta: false } : null;
}

function withoutVersion(path: string): Place {
  let rest = path;
  let isBeta = false;
  for (let times = 0; times < 2 && rest.startsWith('/v1'); times++) {
    if (rest.startsWith('/v1/')) rest = rest.slice('/v1'.length);
    else if (rest.startsWith('/v1beta/')) {
      rest = rest.slice('/v1beta'.length);
      isBeta = true;
    } else break;
  }
  if (rest === cohereRerank) rest = '/rerank';
  // Some clients leave out `models/` before a model with a slash in its name.
  if (geminiCall.test(rest) && !rest.startsWith('/models/')) rest = `/models${rest}`;
  return { path: rest, isBeta };
}
