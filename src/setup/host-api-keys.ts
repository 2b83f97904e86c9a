import { GatewayError, isGatewayError } from '../base/errors.ts';
import { type ApiKeyFields, createApiKeySchema, newApiKeySchema } from '../schema/tenants/api-key.ts';
import type { ApiKeys } from '../stores/api-keys/host-api-keys.ts';
import type { InProcessApi } from './in-process.ts';

type OfInterface = InProcessApi['apiKeys'];

/**
 * The functions of the interface for API keys, and those that are the host app's alone. Two of them do what an
 * operation does, in the host app's own terms: a slug for a workspace, milliseconds, a hash in place of an object.
 */
export interface HostApiKeys extends ApiKeys, Omit<OfInterface, 'create' | 'delete'> {
  /** Also takes the fields of POST /keys. */
  create: ApiKeys['create'] & ((given: ApiKeyFields) => ReturnType<OfInterface['create']>);
  /** Also takes an object. */
  delete: ApiKeys['delete'] & OfInterface['delete'];
}

/** @param ofInterface  the functions of the operator */
export function withHostApiKeys(ofInterface: OfInterface, own: ApiKeys): HostApiKeys {
  const isOfInterface = (given: unknown) =>
    typeof given === 'object' &&
    given !== null &&
    Object.keys(given).some((field) => !Object.hasOwn(newApiKeySchema().shape, field) && isField(field));
  const isField = (field: string) => Object.hasOwn(createApiKeySchema().shape, field);
  const create = async (given?: never): Promise<unknown> =>
    isOfInterface(given) ? ofInterface.create(given as never) : own.create(given);
  const remove = async (given: never): Promise<unknown> =>
    typeof given === 'object' && given !== null ? ofInterface.delete(given) : own.delete(given);
  return {
    ...ofInterface,
    create: shown(create) as HostApiKeys['create'],
    find: shown(own.find),
    setDisabled: shown(own.setDisabled),
    delete: shown(remove) as HostApiKeys['delete'],
  };
}

/**
 * Wraps functions: an error that the gateway has not thrown, such as that of a getter in an argument, becomes the cause
 * of a GatewayError.
 */
function shown<Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) {
  return async (...given: Given): Promise<Result> => {
    try {
      return await work(...given);
    } catch (error) {
      if (isGatewayError(error)) throw error;
      throw new GatewayError('internal', 'Something went wrong inside the gateway', { cause: error });
    }
  };
}
