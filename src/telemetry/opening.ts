import { GatewayError, isGatewayError } from '../base/errors.ts';

/**
 * Opens what was sealed.
 * @param message  of the error where no secret that is configured opens it
 * @throws GatewayError not_found (404) with the message; what `open` throws for another reason
 */
export async function openedOr(message: string, open: () => Promise<string>): Promise<string> {
  try {
    return await open();
  } catch (error) {
    if (!isGatewayError(error) || error.kind !== 'internal') throw error;
    throw new GatewayError('not_found', message, { cause: error });
  }
}
