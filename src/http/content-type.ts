import { GatewayError } from '../base/errors.ts';
import type { Operation } from '../operations/operation.ts';

const json = 'application/json';

/**
 * Checks the media type that a request declares for its body.
 *
 * A browser sends a form of any web site with the host app's cookies, and asks nobody, as long as the body is declared
 * as a form or as text. So an operation that manages something demands `application/json`. A model may also be asked
 * without a type, or as `curl -d` declares its body, but not where the request names the web site that it comes from.
 * @param isParsed  the host has parsed the body
 * @throws GatewayError unsupported_media_type (415)
 */
export function checkContentType({ headers }: Request, { permissions }: Operation, isParsed: boolean): void {
  const type = headers.get('content-type') ?? '';
  if (type === json || isJson(type)) return;
  const isLenient = permissions.includes('inference') && !headers.has('origin');
  if (isLenient && (type === '' || (!isParsed && essenceOf(type) === 'application/x-www-form-urlencoded'))) return;
  throw new GatewayError('unsupported_media_type', `Send the body as JSON, with the header "Content-Type: ${json}"`, {
    headers: { 'accept-post': json },
  });
}

/** JSON is UTF-8, of which ASCII is a part. */
function isJson(type: string): boolean {
  if (essenceOf(type) !== json) return false;
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1]?.toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii';
}

/** A media type without its parameters. */
function essenceOf(type: string): string {
  const end = type.indexOf(';');
  return (end < 0 ? type : type.slice(0, end)).trim().toLowerCase();
}
