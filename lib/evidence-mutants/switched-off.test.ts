/** Each check of completeness is needed: with it switched off, a kind that it catches escapes. */
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { evidenceMutants } from './kinds/index.ts';
import { EvidenceSuite } from './suite.ts';

const { off, unless } = vi.hoisted(() => {
  const off = { check: '' };
  const unless =
    <Asked extends readonly unknown[]>(check: string, ask: (...asked: Asked) => string[]) =>
    (...asked: Asked): string[] =>
      off.check === check ? [] : ask(...asked);
  return { off, unless };
});

vi.mock(import('../experiment/plot-gaps.ts'), async (original) => {
  const { plotGaps } = await original();
  return { plotGaps: unless('plot', plotGaps) };
});
vi.mock(import('../experiment/step-gaps.ts'), async (original) => {
  const { stepGaps } = await original();
  return { stepGaps: unless('steps', stepGaps) };
});
vi.mock(import('../experiment/machine-time.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    lateTimers: unless('late timers', all.lateTimers),
  };
});
vi.mock(import('../experiment/observer-gaps.ts'), async (original) => {
  const { observerGaps } = await original();
  return { observerGaps: unless('observers', observerGaps) };
});
vi.mock(import('../experiment/missing-sights.ts'), async (original) => {
  const { missingSights } = await original();
  return { missingSights: unless('sights', missingSights) };
});
vi.mock(import('../experiment/certificate-gaps.ts'), async (original) => {
  const { certificateGaps } = await original();
  return { certificateGaps: unless('certificates', certificateGaps) };
});
vi.mock(import('../experiment/fault-effect.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    effectGaps: unless('effect', all.effectGaps),
    refutedBy: unless('refuted', all.refutedBy),
  };
});
vi.mock(import('../experiment/disagreements.ts'), async (original) => {
  const { disagreements } = await original();
  return { disagreements: unless('disagreements', disagreements) };
});
vi.mock(import('../timeline/access-conflicts.ts'), async (original) => {
  const { accessConflicts } = await original();
  return { accessConflicts: unless('access', accessConflicts) };
});

const suite = new EvidenceSuite();
afterAll(() => suite[Symbol.dispose]());
afterEach(() => {
  off.check = '';
});

test.each(
  Object.entries({
    plot: 'copy-of-the-first-image-gone',
    steps: 'remedy-gone',
    observers: 'machine-gone',
    'late timers': 'timer-a-minute-late',
    sights: 'observer-devices-gone',
    certificates: 'certificates-after-gone',
    effect: 'node-ready-throughout',
    refuted: 'victim-read-from-outside-in-the-partition',
    disagreements: 'stage-granted-and-no-mount',
    access: 'real-victim-comes-back-beside-the-successor',
  }),
)(
  'without the check of %s, %s escapes',
  async (check, name) => {
    const mutant = evidenceMutants.find((each) => each.name === name);
    if (mutant === undefined) throw new Error(`there is no kind ${name}`);
    expect(await suite.mutant(mutant)).toMatchObject({ caught: true });
    off.check = check;
    expect(await suite.mutant(mutant)).toMatchObject({ proven: true, caught: false });
  },
  60_000,
);
