import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { allowedModelPatterns } from '../tenants/key-scope.ts';

/** Option `routers`: what routers do where a request does not say. */
export const routerSettingsSchema = lazily(() =>
  z.strictObject({
    /** `service/auto`: patterns of the models to choose from, such as `acme/*`. null: all models. */
    allowedModels: allowedModelPatterns().nullable().default(null),
    /** `service/auto`: from 0, the best model, to 10, the cheapest. */
    costQualityTradeoff: z.int().min(0).max(10).default(7),
    /** `service/pareto-code`: the least coding score, 0 to 1. null: that of the tier `high`. */
    minCodingScore: z.number().min(0).max(1).nullable().default(null),
  }),
);
export interface RouterSettings extends z.infer<ReturnType<typeof routerSettingsSchema>> {}
