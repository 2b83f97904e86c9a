import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { expectation } from '../chat/expectations.ts';

const proxyUrl = lazily(() => z.url({ protocol: /^https?$/, error: expectation('expected an http or https URL') }));

const proxyAddress = lazily(() =>
  z.strictObject({
    /** The address of the proxy, with user and password if it asks for them. */
    url: proxyUrl(),
    /** Hosts that are called directly, each as an entry of `NO_PROXY`. */
    noProxy: z.array(z.string().regex(/^[^\s,]+$/, expectation('expected a host, as in NO_PROXY'))).default([]),
  }),
);

/** A proxy, and what is called past it. */
export interface ProxyAddress extends z.input<ReturnType<typeof proxyAddress>> {}
interface ReadProxyAddress extends z.output<ReturnType<typeof proxyAddress>> {}

/** The schema of the option `proxy`. */
export const proxySchema = lazily(() =>
  z.union([
    z.literal('environment'),
    z.literal(false),
    proxyUrl(),
    proxyAddress() as unknown as z.ZodType<ReadProxyAddress, ProxyAddress>,
  ]),
);
