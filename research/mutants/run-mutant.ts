/** One mutant through the whole line: planted, proven effective, audited, judged. */
import { alarms } from './damage-class.ts';
import { judgeCase, type MutantCase } from './mutant-case.ts';
import type { Base } from './bases.ts';
import { proveEffect } from './effect.ts';
import type { Effect, Mutant, Plot } from './mutant.ts';
import { seed, type Workshop } from './workshop.ts';

export interface MutantResult {
  readonly name: string;
  readonly effect: Effect;
  readonly caught: boolean;
  readonly named: boolean;
  /** What it was called: codes of findings. */
  readonly codes: readonly string[];
  readonly recorded: MutantCase;
}

/** The base itself, audited: nothing may be found. */
export async function runTwin(workshop: Workshop, base: Base): Promise<MutantCase> {
  const copies = [await workshop.audit(base.volume, 'first')];
  return { name: `twin-${base.name}`, seed, moments: base.moments, ops: base.ops, copies };
}

export async function runMutant(
  workshop: Workshop,
  base: Base,
  twin: MutantCase,
  mutant: Mutant,
): Promise<MutantResult> {
  const { name, damageClass } = mutant;
  const volume = await workshop.copyOf(base.volume);
  const plot: Plot = { workshop, base, volume };
  const planted = await mutant.plant(plot);
  const { ops = base.ops, moments = base.moments, images = [volume] } = planted;
  const { alter = (copies) => copies } = planted;
  const copies = images.length === 0 ? [...twin.copies] : [];
  for (const [n, image] of images.entries()) {
    copies.push(await workshop.audit(image, n === 0 ? 'first' : 'second'));
  }
  const recorded = { name, damageClass, seed, moments, ops, copies: alter(copies) };
  const effect = await proveEffect(plot, planted.proof, { twin, mutant: recorded });
  await workshop.discard(volume);
  const { findings, caught, named } = judgeCase(recorded);
  return { name, effect, caught, named, codes: alarms(findings), recorded };
}
