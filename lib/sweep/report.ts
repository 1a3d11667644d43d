/** What a sweep came to, for programs (sweep.json) and for people (lines): unforetold findings come first. */
import { expectationOf, servingExpectationOf } from '../judge/index.ts';
import { modelVersion, noticeNames } from '../sim/index.ts';
import type { Scenario } from '../scenario/index.ts';
import { harms, knownPaths, rows, safetyOf, waived } from './judge.ts';
import { changedFields } from './schedule.ts';
import type { SweepState } from './sweep.ts';
import { transitionsSeen, type ScheduleExample, type SweepFinding } from './tally.ts';

/**
 * `unforetold`: new, and the expectations of its example say otherwise. `new`: no finding of the same
 * disk and victim came to as much harm by fewer decisions. `variant`: one did.
 */
const novelties = ['unforetold', 'new', 'variant'] as const;
type Novelty = (typeof novelties)[number];
export type RankedFinding = SweepFinding & { readonly novelty: Novelty };

export function ranked(findings: readonly SweepFinding[]): RankedFinding[] {
  const beside = Map.groupBy(findings, placeOf);
  const ordered = findings.map((finding) => {
    const { scenario, count, index } = finding;
    const novelty = noveltyOf(finding, beside.get(placeOf(finding)) ?? []);
    const [waivers, fields] = [waived(scenario).length, changedFields(scenario).length];
    const order = [novelties.indexOf(novelty), waivers, gravityOf(finding), fields, -count, index];
    return { finding: { ...finding, novelty }, order };
  });
  return ordered
    .toSorted((a, b) => a.order.map((n, at) => n - (b.order[at] ?? 0)).find(Boolean) ?? 0)
    .map(({ finding }) => finding);
}

/** Disk, victim and broken promises: what a finding's key says beside its harm and its licence. */
const placeOf = ({ key, licence }: SweepFinding): string =>
  key
    .split(' | ')
    .slice(1, -licence.length || undefined)
    .join(' | ');

/** The worst has the lowest. */
const gravityOf = ({ broken }: SweepFinding): number =>
  Math.min(...broken.map((harm) => harms.indexOf(harm)));

function noveltyOf(finding: SweepFinding, beside: readonly SweepFinding[]): Novelty {
  const isVariant = beside.some(
    (other) =>
      other.key !== finding.key &&
      gravityOf(other) <= gravityOf(finding) &&
      other.licence.every((decision) => finding.licence.includes(decision)),
  );
  if (isVariant) return 'variant';
  const { scenario, broken } = finding;
  const safety = safetyOf(broken);
  // Whether somebody serves is asked of whole disks alone.
  const isForetold =
    expectationOf(scenario).verdicts.includes(safety) &&
    (safety !== 'safe' || servingExpectationOf(scenario).expected !== 'yes');
  return isForetold ? 'new' : 'unforetold';
}

const rareShown = 20;

function build({ seed, tally }: Pick<SweepState, 'seed' | 'tally'>) {
  const transitions = transitionsSeen(tally);
  const states = new Set(transitions.map(({ to }) => to));
  const statesNotSeen = noticeNames.filter((name) => !states.has(name));
  return {
    schemaVersion: 1,
    /** Always: a sweep never measures. */
    basis: 'predicted',
    ...{ modelVersion, seed },
    schedules: tally.schedules,
    virtualHours: Math.round(tally.virtualMs / 3.6e6),
    /** In so many a remedy was drawn, and in so many it acted before the heal. */
    remedies: { drawn: tally.remediesDrawn, acted: tally.remediesActed },
    findings: ranked(Object.values(tally.findings)),
    /** Rows of the outcome matrix, with what was expected and what came. */
    rows: rows.map(({ name, expect }) => {
      const { asked = 0, yes = 0 } = tally.rows[name] ?? {};
      return { name, expect, asked, yes };
    }),
    paths: knownPaths.map(({ name, what }) => ({ name, what, count: 0, ...tally.paths[name] })),
    coverage: {
      ...{ statesSeen: noticeNames.length - statesNotSeen.length, states: noticeNames.length },
      ...{ statesNotSeen, transitions: transitions.length },
      rare: transitions.slice(0, rareShown),
    },
    /** What contradicts what must hold; empty in a sweep without surprises. */
    surprises: surprisesIn(tally),
  } as const;
}
export type SweepReport = ReturnType<typeof build>;

export const reportOf: (state: Pick<SweepState, 'seed' | 'tally'>) => SweepReport = build;

/**
 * A fence whose disk and server keep their promises lets nothing be lost. It is not asked in time
 * where the next node may attach before it, and never where a person strips the attachment's finalizer.
 */
const isFencedWell = (scenario: Scenario): boolean =>
  scenario.disk.mode === 'fenced' &&
  scenario.disk.attachWhileBusy === 'refused' &&
  waived(scenario).length === 0;

function surprisesIn({ rows: asked, findings }: SweepState['tally']) {
  const surprises: { readonly what: string; readonly example: ScheduleExample }[] = [];
  for (const { name, expect } of rows) {
    const example = asked[name]?.example;
    if (expect === 'yes' || example === undefined) continue;
    surprises.push({ what: `two mounts where there should be none: ${name}`, example });
  }
  for (const { key, ...example } of Object.values(findings)) {
    const isDamage = example.broken.includes('lost') || example.broken.includes('corrupt');
    if (!isDamage || !isFencedWell(example.scenario)) continue;
    surprises.push({ what: `damage behind a fence: ${key}`, example });
  }
  return surprises;
}

export function sweepLines(report: SweepReport): string[] {
  const { schedules, virtualHours, findings, coverage, remedies, rows, paths } = report;
  const percent = (count: number): string => `${Math.round((100 * count) / schedules)} %`;
  const ofNovelty = novelties.map(
    (novelty) => `${findings.filter((each) => each.novelty === novelty).length} ${novelty}`,
  );
  const yes = rows.filter(({ expect }) => expect === 'yes');
  const no = rows.filter(({ expect }) => expect === 'no');
  const found = paths.filter(({ count }) => count > 0);
  const missing = [
    ...yes.filter((row) => row.yes === 0),
    ...paths.filter(({ count }) => count === 0),
  ].map(({ name }) => name);
  return [
    `prediction by the model ${report.modelVersion}: ${schedules} schedules, ` +
      `${virtualHours} virtual hours`,
    `all with a fault of the victim; ${percent(remedies.drawn)} with a remedy, which acted before ` +
      `the heal in ${percent(remedies.acted)}`,
    `findings: ${findings.length}, by causal chain; ${ofNovelty.join(', ')}`,
    `rows that must show two mounts: ${yes.filter((row) => row.yes > 0).length} of ${yes.length}; ` +
      `rows that must not: ${no.filter((row) => row.yes === 0).length} of ${no.length} stand`,
    `known paths found: ${found.map(({ name }) => name).join(' ') || 'none'}`,
    ...(missing.length === 0 ? [] : [`not found: ${missing.join('; ')}`]),
    `coverage: ${coverage.statesSeen} of ${coverage.states} states, ` +
      `${coverage.transitions} transitions`,
    ...report.surprises.map(({ what, example }) => `SURPRISE: ${what} (schedule ${example.index})`),
  ];
}
