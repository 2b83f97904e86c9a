import { fieldsWith } from '../../schema/chat/fields.ts';

/** Fields of a request that speak to the gateway, which acts on them itself: no provider is meant. */
export const gatewayFields: readonly string[] = fieldsWith({ role: 'gateway' });
