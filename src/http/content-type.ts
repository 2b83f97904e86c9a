import { GatewayError } from '../base/errors.ts';
import type { Operation } from '../operations/operation.ts';

const json = 'application/json';
const form = 'multipart/form-data';

/**
 * Checks the media type that a request declares for its body.
 *
 * A browser sends a form of any web site with the host app's cookies, and asks nobody, as long as the body is declared
 * as a form or as text. So an operation that manages something needs `application/json`. A request to a model may also
 * have no type, or the type of `curl -d`, unless it names the web site that it comes from.
 * Forms with files are for the operations that take them. `checkSite` refuses those of other web sites.
 * @param isParsed  true: the host has parsed the body
 * @throws GatewayError unsupported_media_type (415)
 */
export function checkContentType({ headers }: Request, operation: Operation, isParsed: boolean): void {
  const { permissions, form: takesForms } = operation;
  const type = headers.get('content-type') ?? '';
  if (type === json || isJson(type) || isForm({ headers }, operation)) return;
  const isLenient = permissions.includes('inference') && !headers.has('origin');
  if (isLenient && (type === '' || (!isParsed && essenceOf(type) === 'application/x-www-form-urlencoded'))) return;
  const orForm = takesForms === undefined ? '' : `, or as ${form}`;
  throw new GatewayError(
    'unsupported_media_type',
    `Send the body as JSON, with the header "Content-Type: ${json}"${orForm}`,
    { headers: { 'accept-post': takesForms === undefined ? json : `${json}, ${form}` } },
  );
}

/** Tells whether the body of a request is a form, for an operation that takes forms. */
export function isForm({ headers }: Pick<Request, 'headers'>, operation: Operation): boolean {
  return operation.form !== undefined && essenceOf(headers.get('content-type') ?? '') === form;
}

/** Tells whether a type is JSON in UTF-8, or in ASCII, which is a part of UTF-8. */
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
