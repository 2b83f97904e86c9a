import { compilePatterns } from '../../base/text/pattern.ts';
import type { Model } from '../../call/model.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { RouterSettings } from '../../schema/settings/router.ts';
import { rate } from './quality.ts';
import { maxChosen, type RouterInput } from './routers.ts';

/** Settings of the auto router. */
export interface AutoSettings {
  allowedModels: readonly string[] | null;
  /** The trade-off, from 0, the best model, to 10, the cheapest model. */
  tradeoff: number;
}

/** Reads the request's settings of the plugin `auto-router`. @param defaults  the settings of the host app */
export function autoSettings({ plugins }: ChatRequest, defaults?: RouterSettings): AutoSettings {
  const given = plugins?.find(({ id, enabled }) => id === 'auto-router' && enabled !== false);
  const { allowed_models, cost_quality_tradeoff } = given?.id === 'auto-router' ? given : {};
  return {
    allowedModels: allowed_models ?? defaults?.allowedModels ?? null,
    tradeoff: cost_quality_tradeoff ?? defaults?.costQualityTradeoff ?? 7,
  };
}

/** The models that the router chose from, and those that it left out. */
export interface AutoChoice {
  /** The candidates, best first. */
  ranked: readonly Model[];
  /** Models that `allowed_models` leaves out. */
  notAllowed: readonly string[];
  /** Models that do not fit, or whose price is not known. */
  unfit: readonly string[];
}

/**
 * Returns the models of `service/auto`: those with the best mix of quality and cost, best first. The weight of cost is
 * a tenth of the trade-off, to the power of 1 to 4: a hard request pays more for quality. At 0 and 10 the difficulty
 * does not matter. More weight on cost never leads to a more expensive model: quality and cost of a model do not depend
 * on the weight.
 * @param difficulty  0, easy, to 1, hard
 */
export function autoModels(
  input: RouterInput,
  { allowedModels, tradeoff }: AutoSettings,
  difficulty: number,
): AutoChoice {
  const isAllowed = allowedModels && compilePatterns(allowedModels);
  const models = isAllowed ? input.models.filter(({ slug }) => isAllowed(slug)) : input.models;
  const rated = rate({ ...input, models }, ({ quality }) => quality);
  const weight = (tradeoff / 10) ** (1 + 3 * difficulty);
  const ranked = rated
    .map((one) => ({ ...one, score: (1 - weight) * one.quality - weight * one.cost }))
    .sort((a, b) => b.score - a.score || a.pricePicoUsd - b.pricePicoUsd)
    .map(({ model }) => model);
  const fitting = new Set(ranked);
  return {
    ranked,
    notAllowed: isAllowed ? input.models.filter(({ slug }) => !isAllowed(slug)).map(({ slug }) => slug) : [],
    unfit: models.filter((model) => !fitting.has(model)).map(({ slug }) => slug),
  };
}

/**
 * The most models left out that are shown. More would make the metadata of a large catalogue longer than its response.
 */
const shownLeft = 20;

/**
 * Makes the stage of `service_metadata.pipeline` with the choice of the router. @param chosen  the model that is
 * called, then its fallbacks
 */
export function autoStage(
  { ranked, notAllowed, unfit }: AutoChoice,
  chosen: readonly Model[],
  difficulty: number,
  features: Readonly<Record<string, number>> | null,
): PipelineStage {
  const left: { model: string; reason: string }[] = [];
  const add = (slugs: readonly string[], reason: string) => {
    for (const model of slugs.slice(0, shownLeft - left.length)) left.push({ model, reason });
  };
  const worse = ranked.slice(0, shownLeft + maxChosen).filter((model) => !chosen.includes(model));
  add(notAllowed, 'allowed_models');
  add(unfit, 'does_not_fit');
  add(
    worse.map(({ slug }) => slug),
    'score',
  );
  return {
    type: 'plugin',
    name: 'auto-router',
    summary: `chose ${chosen[0]?.slug ?? 'no model'} at difficulty ${difficulty.toFixed(2)}`,
    data: {
      difficulty,
      ...(features === null ? {} : { features: { ...features } }),
      chosen: chosen.map(({ slug }) => slug),
      excluded: left,
      excluded_count: notAllowed.length + unfit.length + ranked.length - chosen.length,
    },
  };
}
