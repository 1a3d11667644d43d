/** What a sweep came to, for programs (sweep.json) and for people (lines). */
import { modelVersion, noticeNames } from '../sim/index.ts';
import type { Scenario } from '../scenario/index.ts';
import { statesSeen, transitionsSeen, type Transition } from './coverage.ts';
import { knownPaths, rows } from './paths.ts';
import { novelties, type Novelty, type RankedFinding, ranked } from './rank.ts';
import type { SweepState } from './sweep.ts';
import type { ScheduleExample, SweepFinding } from './tally.ts';

export interface SweepReport {
  readonly schemaVersion: 1;
  /** Always: a sweep never measures. */
  readonly basis: 'predicted';
  readonly modelVersion: string;
  readonly seed: string;
  readonly schedules: number;
  readonly virtualHours: number;
  /** In so many a remedy was drawn, and in so many it acted before the heal. */
  readonly remedies: { readonly drawn: number; readonly acted: number };
  /** The most telling first. */
  readonly findings: readonly RankedFinding[];
  /** Rows of the outcome matrix, with what was expected and what came. */
  readonly rows: readonly RowReport[];
  readonly paths: readonly {
    name: string;
    what: string;
    count: number;
    example?: ScheduleExample;
  }[];
  readonly coverage: {
    readonly statesSeen: number;
    readonly states: number;
    readonly statesNotSeen: readonly string[];
    readonly transitions: number;
    /** The rarest. */
    readonly rare: readonly Transition[];
  };
  /** What contradicts what must hold; empty in a sweep without surprises. */
  readonly surprises: readonly Surprise[];
}

interface RowReport {
  readonly name: string;
  readonly expect: 'yes' | 'no';
  readonly asked: number;
  readonly yes: number;
}

interface Surprise {
  readonly what: string;
  readonly example: ScheduleExample;
}

const rareShown = 20;

export function reportOf({ seed, tally }: Pick<SweepState, 'seed' | 'tally'>): SweepReport {
  const transitions = transitionsSeen(tally);
  const states = statesSeen(tally);
  return {
    ...{ schemaVersion: 1, basis: 'predicted', modelVersion, seed },
    schedules: tally.schedules,
    virtualHours: Math.round(tally.virtualMs / 3.6e6),
    remedies: { drawn: tally.remediesDrawn, acted: tally.remediesActed },
    findings: ranked(Object.values(tally.findings)),
    rows: rows.map(({ name, expect }) => {
      const { asked = 0, yes = 0 } = tally.rows[name] ?? {};
      return { name, expect, asked, yes };
    }),
    paths: knownPaths.map(({ name, what }) => {
      const seen = tally.paths[name];
      return { name, what, count: 0, ...seen };
    }),
    coverage: {
      ...{ statesSeen: states.length, states: noticeNames.length },
      statesNotSeen: noticeNames.filter((name) => !states.includes(name)),
      transitions: transitions.length,
      rare: transitions.slice(0, rareShown),
    },
    surprises: surprisesIn(tally),
  };
}

/**
 * A fence whose disk and server keep their promises lets nothing be lost. It is not asked in time
 * where the next node may attach before it, and never where a person strips the attachment's finalizer.
 */
const isFencedWell = (scenario: Scenario): boolean =>
  scenario.disk === 'fenced' &&
  scenario.flushes === 'honest' &&
  scenario.trxCommit === 1 &&
  scenario.accessMode !== 'ReadWriteMany' &&
  scenario.attachWhileBusy === 'refused' &&
  scenario.remedy !== 'strip-attachment-finalizer';

function surprisesIn(tally: SweepState['tally']): Surprise[] {
  const refuted = rows.flatMap(({ name, expect }) => {
    const example = tally.rows[name]?.example;
    return expect === 'no' && example !== undefined
      ? [{ what: `two mounts where there should be none: ${name}`, example }]
      : [];
  });
  const leaks = Object.values(tally.findings)
    .filter(({ broken, scenario }) => isDamage(broken) && isFencedWell(scenario))
    .map(({ key, ...example }) => ({ what: `damage behind a fence: ${key}`, example }));
  return [...refuted, ...leaks];
}

const isDamage = (broken: SweepFinding['broken']): boolean =>
  broken.includes('lost') || broken.includes('corrupt');

export function sweepLines(report: SweepReport): string[] {
  const { schedules, virtualHours, findings, coverage, remedies } = report;
  const percent = (count: number): string => `${Math.round((100 * count) / schedules)} %`;
  const countOf = (novelty: Novelty): string =>
    `${findings.filter((each) => each.novelty === novelty).length} ${novelty}`;
  const yes = report.rows.filter(({ expect }) => expect === 'yes');
  const no = report.rows.filter(({ expect }) => expect === 'no');
  const found = report.paths.filter(({ count }) => count > 0);
  const missing = [
    ...yes.filter((row) => row.yes === 0).map(({ name }) => name),
    ...report.paths.filter(({ count }) => count === 0).map(({ name }) => name),
  ];
  return [
    `prediction by the model ${report.modelVersion}: ${schedules} schedules, ` +
      `${virtualHours} virtual hours`,
    `all with a fault of the victim; ${percent(remedies.drawn)} with a remedy, which acted before ` +
      `the heal in ${percent(remedies.acted)}`,
    `findings: ${findings.length}, by causal chain; ${novelties.map(countOf).join(', ')}`,
    `rows that must show two mounts: ${yes.filter((row) => row.yes > 0).length} of ${yes.length}; ` +
      `rows that must not: ${no.filter((row) => row.yes === 0).length} of ${no.length} stand`,
    `known paths found: ${found.map(({ name }) => name).join(' ') || 'none'}`,
    ...(missing.length === 0 ? [] : [`not found: ${missing.join('; ')}`]),
    `coverage: ${coverage.statesSeen} of ${coverage.states} states, ` +
      `${coverage.transitions} transitions`,
    ...report.surprises.map(({ what, example }) => `SURPRISE: ${what} (schedule ${example.index})`),
  ];
}
