/** Findings of a sweep in order: what nobody foretold first, variants of what is known last. */
import { expectationOf, servingExpectationOf, type Safety } from '../judge/index.ts';
import { harms, waived, type Harm } from './judge-schedule.ts';
import { changedFields } from './settle.ts';
import type { SweepFinding } from './tally.ts';

/**
 * `unforetold`: new, and the expectations of its example say otherwise. `new`: no finding of the same
 * disk and victim came to as much harm by fewer decisions. `variant`: one did.
 */
export const novelties = ['unforetold', 'new', 'variant'] as const;
export type Novelty = (typeof novelties)[number];

export interface RankedFinding extends SweepFinding {
  readonly novelty: Novelty;
}

/** The most telling first. */
export function ranked(findings: readonly SweepFinding[]): RankedFinding[] {
  const beside = Map.groupBy(findings, placeOf);
  return findings
    .map((finding) => ({
      ranked: { ...finding, novelty: noveltyOf(finding, beside.get(placeOf(finding)) ?? []) },
      waivers: waived(finding.scenario).length,
      fields: changedFields(finding.scenario).length,
    }))
    .toSorted(
      (a, b) =>
        novelties.indexOf(a.ranked.novelty) - novelties.indexOf(b.ranked.novelty) ||
        a.waivers - b.waivers ||
        gravityOf(a.ranked) - gravityOf(b.ranked) ||
        a.fields - b.fields ||
        b.ranked.count - a.ranked.count ||
        a.ranked.index - b.ranked.index,
    )
    .map((each) => each.ranked);
}

/** Disk, victim and broken promises: what a finding's key says beside its harm and its licence. */
const placeOf = ({ key, licence }: SweepFinding): string => {
  const [, ...rest] = key.split(' | ');
  return rest.slice(0, rest.length - licence.length).join(' | ');
};

/** The worst has the lowest. */
const gravityOf = ({ broken }: Pick<SweepFinding, 'broken'>): number =>
  Math.min(...broken.map((harm) => harms.indexOf(harm)));

function noveltyOf(finding: SweepFinding, beside: readonly SweepFinding[]): Novelty {
  const decisions = new Set(finding.licence);
  const gravity = gravityOf(finding);
  const isVariant = beside.some(
    (other) =>
      other.key !== finding.key &&
      gravityOf(other) <= gravity &&
      other.licence.every((decision) => decisions.has(decision)),
  );
  if (isVariant) return 'variant';
  return isForetold(finding) ? 'new' : 'unforetold';
}

function isForetold({ scenario, broken }: SweepFinding): boolean {
  const safety = damageOf(broken);
  if (!expectationOf(scenario).verdicts.includes(safety)) return false;
  // Whether somebody serves is asked of whole disks alone.
  return safety !== 'safe' || servingExpectationOf(scenario).expected !== 'yes';
}

const damageOf = (broken: readonly Harm[]): Safety =>
  (['corrupt', 'lost', 'exposed'] as const).find((harm) => broken.includes(harm)) ?? 'safe';
