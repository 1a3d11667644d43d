/**
 * The licence: the chain of recorded decisions that let a second node mount the volume. Each link is
 * tied to the record that proves it; a link that must be there and is not is a gap, and is said.
 */
import type { Licence, LicenceStep } from '../verdict/verdict.ts';
import type { ObservationRecord } from '../../history/index.ts';
import { accessesOf, type Access } from './access.ts';
import { gapsInChain } from './licence-gaps.ts';
import { links, type CausalLink, type LinkName } from './licence-links.ts';
import {
  passageOf,
  refusedMountOf,
  secondMountsOf,
  type Passage,
  type SecondMount,
} from './second-mounts.ts';
import type { Story } from './story.ts';

/** The pod's own mount follows the volume's by less than this. */
const followMs = 30_000;

export interface Licences {
  /**
   * Licence of the first second mount; where none came before the heal, of the first that was refused, or
   * undefined.
   */
  readonly first: Licence | undefined;
  /** Those of every other one: back to the old node, or after the heal. */
  readonly later: readonly Licence[];
}

/** `accesses`: who could write, when; by default as the observers of mounts saw it. */
export function licencesOf(
  story: Story,
  accesses: readonly Access[] = accessesOf(story),
): Licences {
  const { faultAtMs } = story;
  if (faultAtMs === undefined) return { first: undefined, later: [] };
  const [first, ...rest] = secondMountsOf(story, accesses);
  const told = (mounts: readonly SecondMount[]): Licence[] =>
    mounts.map((mount) => licenceOf(passageOf(story, mount), faultAtMs));
  if (first !== undefined && first.atMs < story.healAtMs) {
    return { first: licenceOf(passageOf(story, first), faultAtMs), later: told(rest) };
  }
  const later = told(first === undefined ? [] : [first, ...rest]);
  // A node that has the volume may write it, mounted or not.
  const refused = refusedMountOf(story, accesses);
  return refused === undefined || refused.atMs >= story.healAtMs
    ? { first: undefined, later }
    : { first: licenceOf(passageOf(story, refused), faultAtMs), later };
}

function licenceOf(passage: Passage, faultAtMs: number): Licence {
  const { mount } = passage;
  const chain = chainOf(passage);
  const steps = [...chain.values()].map(({ seen, link }) => stepOf(seen, link, passage, faultAtMs));
  return {
    from: mount.from,
    to: mount.to,
    atS: seconds(mount.atMs, faultAtMs),
    overlaps: mount.overlaps,
    steps: [...steps, ...operatorSteps(passage, faultAtMs)].toSorted((a, b) => a.atS - b.atS),
    gaps: gapsInChain(new Set(chain.keys()), passage),
  };
}

interface Proven {
  readonly seen: ObservationRecord;
  readonly link: CausalLink;
}

/** The first record of the passage that fits each link; what did not happen is left out. */
function chainOf(passage: Passage): Map<LinkName, Proven> {
  const { story, mount } = passage;
  const chain = new Map<LinkName, Proven>();
  for (const [name, link] of Object.entries(links) as [LinkName, CausalLink][]) {
    // What came after the mount let nobody in.
    const untilMs = mount.atMs + (link.mayFollow === true ? followMs : 0);
    const seen = story.observations.find(
      (each) => each.t >= mount.sinceMs && each.t <= untilMs && link.fits(each, passage),
    );
    if (seen !== undefined) chain.set(name, { seen, link });
  }
  return chain;
}

function stepOf(
  seen: ObservationRecord,
  { step, by }: CausalLink,
  passage: Passage,
  faultAtMs: number,
): LicenceStep {
  const who = by?.(seen, passage);
  return {
    atS: seconds(seen.t, faultAtMs),
    step,
    source: seen.source,
    evidence: evidenceOf(seen),
    recordMs: seen.t,
    ...(who === undefined ? {} : { by: who }),
  };
}

/** What the run did in an operator's place. */
const operatorSteps = ({ story, mount }: Passage, faultAtMs: number): LicenceStep[] =>
  story.records
    .filter((record) => record.type === 'action')
    .filter(({ actor, step, t }) => actor === 'remedy' && step === 'begin' && isWithin(t, mount))
    .map(({ name, node, t }) => ({
      atS: seconds(t, faultAtMs),
      step: `the operator acted: ${name}`,
      source: 'remedy',
      evidence: `on ${node ?? '?'}`,
      recordMs: t,
    }));

const isWithin = (
  t: number,
  { sinceMs, atMs }: { readonly sinceMs: number; readonly atMs: number },
): boolean => t >= sinceMs && t <= atMs;

const seconds = (atMs: number, faultAtMs: number): number => Math.round(atMs - faultAtMs) / 1000;

const evidenceOf = ({ name, node, data }: ObservationRecord): string =>
  `${name}${node === undefined ? '' : ` ${node}`} ${JSON.stringify(data)}`.slice(0, 400);
