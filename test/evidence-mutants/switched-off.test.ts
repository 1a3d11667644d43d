/** Each check of completeness is needed: without it, a kind that it catches escapes. */
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { evidenceMutants } from './kinds/index.ts';
import { EvidenceSuite } from './suite.ts';

const { off, unless } = vi.hoisted(() => {
  const off = { checks: [] as readonly string[] };
  const unless =
    <Asked extends readonly unknown[], Found>(check: string, ask: (...asked: Asked) => Found[]) =>
    (...asked: Asked): Found[] =>
      off.checks.includes(check) ? [] : ask(...asked);
  return { off, unless };
});

vi.mock(import('../../lib/judge/evidence/steps.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    plotGaps: unless('plot', all.plotGaps),
    stepGaps: unless('steps', all.stepGaps),
    certificateGaps: unless('certificates', all.certificateGaps),
    effectGaps: unless('effect', all.effectGaps),
    refutedBy: unless('refuted', all.refutedBy),
  };
});
vi.mock(import('../../lib/judge/evidence/observers.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    lateTimers: unless('late timers', all.lateTimers),
    observerGaps: unless('observers', all.observerGaps),
    missingSights: unless('sights', all.missingSights),
    disagreements: unless('disagreements', all.disagreements),
    cutsNotSeen: unless('cuts', all.cutsNotSeen),
    expectedSights: unless('expected sights', all.expectedSights),
  };
});
vi.mock(import('../../lib/judge/evidence/identities.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    identitiesOf: (story) =>
      off.checks.includes('identities')
        ? { reasons: [], foreign: new Set() }
        : all.identitiesOf(story),
  };
});
vi.mock(import('../../lib/judge/evidence/clients.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    clientGaps: unless('clients', all.clientGaps),
    blindReads: unless('blind reads', all.blindReads),
  };
});
vi.mock(import('../../lib/judge/timeline/access.ts'), async (original) => {
  const all = await original();
  return { ...all, accessConflicts: unless('access', all.accessConflicts) };
});

const suite = new EvidenceSuite();
afterAll(() => suite[Symbol.dispose]());
afterEach(() => {
  off.checks = [];
});

test.each(
  Object.entries({
    plot: 'phase-steady-gone',
    steps: 'remedy-gone',
    observers: 'machine-gone',
    'late timers': 'timer-a-minute-late',
    sights: 'control-plane-tells-nothing-by-audit',
    certificates: 'certificates-after-gone',
    effect: 'node-ready-throughout',
    refuted: 'victim-read-from-outside-in-the-partition',
    cuts: 'cut-told-of-two-nodes',
    disagreements: 'stage-granted-and-no-mount',
    identities: 'copy-changed-before-its-audit',
    clients: 'clients-silent-in-the-last-minute',
    'blind reads': 'clients-readers-are-frozen-at-the-fault',
    'expected sights': 'attachment-of-the-successor-never-seen',
    // Of a path that nobody knows the copies are not this run's either.
    'access, identities': 'victim-comes-back-beside-the-successor',
  }),
)(
  'without the checks of %s, %s escapes',
  (checks, name) => {
    const mutant = evidenceMutants.find((each) => each.name === name);
    if (mutant === undefined) throw new Error(`there is no kind ${name}`);
    expect(suite.mutant(mutant)).toMatchObject({ caught: true });
    off.checks = checks.split(', ');
    expect(suite.mutant(mutant)).toMatchObject({ proven: true, caught: false });
  },
  60_000,
);
