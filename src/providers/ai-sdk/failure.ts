import { placeholder } from '../../base/secrets.ts';
import { cleanText } from '../../base/text/clean-text.ts';

/** A failure as an HTTP response. */
export interface ModelFailure {
  status: number;
  /**
   * false: the call was not refused, so it may have to be paid for: the response could not be read, or the connection
   * broke.
   */
  isRefusal: boolean;
  /** The headers with the time of the next try and with the provider's id of the request. Names in lower case. */
  headers: Record<string, string>;
  message: string;
  code: string | undefined;
}

/** Errors of the AI SDK that have no status, by their names. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['AI_LoadAPIKeyError', 401],
  ['AI_LoadSettingError', 401],
  ['AI_UnsupportedFunctionalityError', 400],
  ['AI_InvalidPromptError', 400],
  ['AI_InvalidArgumentError', 400],
  ['AI_NoSuchProviderReferenceError', 400],
  ['AI_NoSuchModelError', 404],
]);

const keptHeaders = ['retry-after', 'retry-after-ms', 'x-request-id', 'request-id'];

/** Texts in the form of well-known providers' keys. The gateway does not know the keys of models. */
const keys =
  /\b(?:(?:sk|pk|rk|gsk|xai|key)[-_][\w-]{12,}|AIza[\w-]{20,}|AKIA[A-Z0-9]{12,})|\bBearer\s+[\w.~+/-]{8,}=*/gi;

/**
 * Reads the error of a model, thrown or returned. Neither the request nor the provider's body is taken from it.
 * @returns null: no error of a provider or of the AI SDK. Its message may be about anything
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/errors/api-call-error.ts
 */
export function failureOf(error: unknown): ModelFailure | null {
  if (typeof error === 'string') return failure(502, error, false);
  if (typeof error !== 'object' || error === null) return null;
  const { name, message, statusCode, responseHeaders, data, type, code } = error as Record<string, unknown>;
  const isOfSdk = typeof name === 'string' && name.startsWith('AI_');
  // Some models return the provider's own error object.
  if ((error instanceof Error && !isOfSdk) || typeof message !== 'string' || message === '') return null;
  const named = typeof name === 'string' ? statuses.get(name) : undefined;
  const told = isErrorStatus(statusCode) ? statusCode : undefined;
  const found = failure(named ?? told ?? 502, message, (named ?? told) !== undefined || isUnsent(error));
  return { ...found, headers: headersIn(responseHeaders), code: codeIn(data) ?? wordOf(code) ?? wordOf(type) };
}

function failure(status: number, message: string, isRefusal: boolean): ModelFailure {
  return {
    status,
    isRefusal,
    headers: {},
    message: cleanText(message.slice(0, 4000).replace(keys, placeholder)),
    code: undefined,
  };
}

/** The codes in the cause of a `fetch` error that mean that there was no connection. */
const unsentCodes: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

function isUnsent(error: object): boolean {
  const { cause } = error as { cause?: unknown };
  const { code, cause: inner } = Object(cause) as { code?: unknown; cause?: unknown };
  return unsentCodes.includes(code) || unsentCodes.includes((Object(inner) as { code?: unknown }).code);
}

function isErrorStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599;
}

function headersIn(headers: unknown): Record<string, string> {
  const kept: Record<string, string> = {};
  if (typeof headers !== 'object' || headers === null) return kept;
  for (const [name, value] of Object.entries(headers))
    if (keptHeaders.includes(name.toLowerCase()) && typeof value === 'string') kept[name.toLowerCase()] = value;
  return kept;
}

/** The provider's own code of the error, if the AI SDK has read it. */
function codeIn(data: unknown): string | undefined {
  const { error = data } = Object(data) as { error?: unknown };
  const { code, type, status } = Object(error) as Record<string, unknown>;
  return [code, type, status].map(wordOf).find((word) => word !== undefined);
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? cleanText(value, 80) : undefined;
}
