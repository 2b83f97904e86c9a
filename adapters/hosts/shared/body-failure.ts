import type { HandleContext } from '../../../src/index.ts';

type BodyFailure = NonNullable<HandleContext['bodyFailure']>;

/** The meanings of the errors of `raw-body` and `body-parser`, which Express, Koa and Nest use, by `type`. */
const ofType: Readonly<Record<string, BodyFailure>> = {
  'entity.parse.failed': 'malformed',
  'request.size.invalid': 'malformed',
  'entity.too.large': 'too_large',
  'charset.unsupported': 'unsupported',
};

/** The meanings of Fastify's errors, by `code`. */
const ofCode: Readonly<Record<string, BodyFailure>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed',
};

/** A parser that does not know how a body is compressed leaves it alone: Express and Nest, then Koa. */
const unreadType = 'encoding.unsupported';
const unreadMessage = 'Unsupported Content-Encoding: ';

/** The codes of `node:zlib`'s errors, which parsers pass on without a type. */
const isOfZlib = /^(?:Z_|ZSTD_|ERR__)/;

/** The part of an error of a parser that tells what was wrong. */
interface ParserError {
  type?: unknown;
  code?: unknown;
  status?: unknown;
  statusCode?: unknown;
  message?: unknown;
}

/** The reason for which a body parser of the host app refused a body. undefined: the error is of something else. */
export function bodyFailureOf(error: unknown): BodyFailure | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { type, code, status, statusCode = status } = error as ParserError;
  const known = ofType[String(type)] ?? ofCode[String(code)];
  if (known !== undefined) return known;
  if (isOfZlib.test(String(code))) return 'damaged';
  // The parsers of Koa name no type.
  if (error instanceof SyntaxError && statusCode === 400) return 'malformed';
  return undefined;
}

/** Tells whether a parser has left a body alone, so that the gateway can read it. */
export function isUnreadBody(error: unknown): boolean {
  const { type, status, message } = (error ?? {}) as ParserError;
  return type === unreadType || (status === 415 && String(message).startsWith(unreadMessage));
}
