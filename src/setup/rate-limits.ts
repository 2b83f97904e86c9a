import { limitsOrNull, type RateDeps } from '../pipeline/admission.ts';
import type { RateLimits } from '../schema/rate-limits.ts';
import type { RateLimitSettings } from '../schema/settings.ts';
import type { RateLimiter } from '../stores/rates/limiter.ts';

/** The option `rateLimits`, as requests need it. */
export function rateDeps(settings: RateLimitSettings, limiter: RateLimiter): RateDeps {
  const { key, workspace, workspaces, assumedOutputTokens } = settings;
  const everyWorkspace = limitsOrNull(workspace);
  const single = new Map<string, RateLimits | null>(
    Object.entries(workspaces).map(([id, limits]) => [id, limitsOrNull(limits)]),
  );
  return {
    limiter,
    ofKeys: limitsOrNull(key),
    ofWorkspace:
      single.size === 0
        ? () => everyWorkspace
        : (id) => {
            const own = single.get(id);
            return own === undefined ? everyWorkspace : own;
          },
    assumedOutputTokens,
  };
}
