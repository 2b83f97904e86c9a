import { cloudflare } from './cloudflare.ts';
import type { Provider } from './provider.ts';
import { registry } from './registry.ts';
import { sandbox } from './sandbox.ts';

/** Every provider that is built in. */
export const builtInProviders: readonly Provider[] = [sandbox, cloudflare, ...registry];
