import type { Loose } from '../../base/values.ts';
import type { BodyCheck } from '../../schema/schema.ts';

/**
 * Returns a check whose result is the body as the caller wrote it, with the fields for the gateway as their schemas have
 * them: an upstream that speaks the same wire format gets the fields in the same order, which its prompt cache depends on.
 * @param ownFields  the fields for the gateway
 * @param tidy       changes what upstreams would refuse
 */
export function asWritten<Body extends object>(
  check: () => BodyCheck<Body>,
  ownFields: Iterable<string>,
  tidy?: (body: Loose, checked: Body) => void,
): () => BodyCheck<Body> {
  return () => ({
    safeParse(value) {
      const checked = check().safeParse(value);
      if (!checked.success) return checked;
      const body: Loose = { ...(value as Loose) };
      const { data } = checked;
      for (const name of ownFields) if (body[name] !== undefined) body[name] = (data as Loose)[name];
      tidy?.(body, data);
      return { success: true, data: body as Body };
    },
  });
}
