import type { StopSignal } from '../../base/async/stop.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import type { Target } from '../../call/plan.ts';
import { bearer, type Credential, type OutgoingRequest } from '../../providers/provider.ts';
import type { AttemptContext } from './context.ts';
import { requestFor } from './outgoing.ts';

/** Learns why the `auth` of a provider failed. The reason holds no key that the gateway knows. */
export type ReportAuthFailure = (providerSlug: string, reason: string) => void;

/**
 * The request with the key on it. A provider that signs may take time.
 * @param stop  aborted when the client leaves, or `auth` takes too long
 * @throws UpstreamError `operator` where the provider's `auth` or `baseUrl` fails, and for a workspace's credential
 *   that no header takes: the next target may serve
 */
export function authenticated(
  context: AttemptContext,
  { isByok }: Target,
  stop: StopSignal,
  report: ReportAuthFailure | undefined,
): OutgoingRequest | Promise<OutgoingRequest> {
  const { provider, credential } = context;
  try {
    const signed = provider.auth(requestFor(context), credential, context.settings.clock);
    if (isThenable(signed)) return signedInTime(context, signed, isByok, stop, report);
    if (provider.auth !== bearer) checkSigned(signed);
    return isByok ? checkedSendable(credential, signed) : signed;
  } catch (error) {
    throw failureOf(context, error, report);
  }
}

async function signedInTime(
  context: AttemptContext,
  signing: Promise<OutgoingRequest>,
  isByok: boolean,
  stop: StopSignal,
  report: ReportAuthFailure | undefined,
): Promise<OutgoingRequest> {
  let onStop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    onStop = () => reject(stop.reason);
    if (stop.aborted) onStop();
    else stop.addEventListener('abort', onStop, { once: true });
  });
  try {
    const signed = await Promise.race([signing, stopped]);
    checkSigned(signed);
    return isByok ? checkedSendable(context.credential, signed) : signed;
  } catch (error) {
    // The client left; or nobody waits any longer.
    if (stop.aborted && !(stop.reason instanceof UpstreamError)) throw stop.reason;
    throw failureOf(context, error, report);
  } finally {
    stop.removeEventListener('abort', onStop);
  }
}

/** A host app's own class of promises is one too. */
function isThenable(signed: OutgoingRequest | Promise<OutgoingRequest>): signed is Promise<OutgoingRequest> {
  return typeof (signed as Promise<OutgoingRequest> | undefined)?.then === 'function';
}

/** Checks the result of a host app's `auth`: a key that is not set would be sent as the text `undefined`. */
function checkSigned(signed: OutgoingRequest): void {
  if (
    typeof signed !== 'object' ||
    signed === null ||
    typeof signed.url !== 'string' ||
    !(typeof signed.body === 'string' || signed.body instanceof Uint8Array)
  )
    throw new TypeError('auth returned no request');
  for (const [name, value] of Object.entries(signed.headers))
    if (typeof value !== 'string') throw new TypeError(`auth set the header ${cleanText(name, 50)} to no text`);
}

/** Thrown for a fault of the workspace's credential, and not for one of the host app's code. */
class Unsendable extends UpstreamError {}

/** Credentials whose headers were checked. */
const sendable = new WeakSet<Credential>();

/**
 * Checks a workspace's credential: it may be text that no header takes, such as JSON over several lines for a provider
 * that wants a plain key.
 */
function checkedSendable(credential: Credential, request: OutgoingRequest): OutgoingRequest {
  if (sendable.has(credential)) return request;
  if (!Object.values(request.headers).every((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)))
    throw new Unsendable('The credential cannot be sent to this provider.', { reason: 'status', status: 401 });
  sendable.add(credential);
  return request;
}

/**
 * Makes an UpstreamError of anything that `auth` threw. It is never the caller's fault, and its words are for the
 * operator alone. It counts as `network`, of which nothing was sent, rather than as a refusal by the provider: a
 * refusal would set the endpoint aside for every workspace, and the request of one workspace may be the reason why it
 * cannot be signed.
 */
function failureOf({ provider, redactor }: AttemptContext, error: unknown, report?: ReportAuthFailure): UpstreamError {
  if (error instanceof Unsendable) return error;
  report?.(provider.slug, cleanText(redactor.redact(reasonOf(error)), 300));
  return new UpstreamError('The gateway could not authenticate with the provider.', {
    reason: 'network',
    status: 502,
    fault: 'operator',
    isUnsent: true,
  });
}

function reasonOf(error: unknown): string {
  try {
    if (error instanceof UpstreamError && error.reason === 'timeout')
      return `auth took longer than ${error.waitedMs} ms`;
    return error instanceof Error ? `${error.name}: ${error.message}` : 'auth threw no Error';
  } catch {
    // A getter of the thrown object throws in its turn.
    return 'auth threw an unreadable error';
  }
}
