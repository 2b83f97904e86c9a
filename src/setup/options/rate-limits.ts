import { limitsOrNull, type RateDeps } from '../../pipeline/call/admission.ts';
import type { RateLimitSettings } from '../../schema/settings/settings.ts';
import type { RateLimits } from '../../schema/tenants/rate-limits.ts';
import type { RateLimiter } from '../../stores/rates/limiter.ts';

/** The option `rateLimits` in the form that requests need. */
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
