import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HandleContext, RequestHandler } from '../../src/index.ts';
import { NodeExchange, respond } from './exchange.ts';
import { parsedBody } from './shared/request-body.ts';

/** The part of a Fastify request that we use: structural types, so that Fastify is no dependency. */
export interface FastifyRequest {
  /** Node's own request. */
  raw: IncomingMessage;
  /** The body that a parser of the app has read. */
  body: unknown;
}

/** The part of a Fastify reply that we use. */
export interface FastifyReply {
  /** Node's own response. */
  raw: ServerResponse;
  /** Headers that hooks of the app have set. */
  getHeaders(): Record<string, number | string | string[] | undefined>;
  /** Tells Fastify that the plugin itself responds. */
  hijack(): unknown;
}

/**
 * Responds to a request of Fastify with the gateway.
 * @returns  settles, and never rejects, when the response has been handed to the socket or the client has left
 */
export function respondAs(
  gateway: RequestHandler,
  { raw: req, body }: FastifyRequest,
  reply: FastifyReply,
  context: Omit<HandleContext, 'body'>,
): Promise<void> {
  reply.hijack();
  const res = reply.raw;
  // Fastify would have sent them.
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) res.setHeader(name, value);
  return respond(gateway, new NodeExchange(req, res), { ...context, body: parsedBody(req, body) });
}
