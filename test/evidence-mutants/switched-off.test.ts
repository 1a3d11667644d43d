/** Each check of completeness is needed: without it, an attack that it catches escapes. */
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { attacksOf } from './attacks.ts';
import type { BaseName } from './bases.ts';
import { evidenceMutants } from './kinds/index.ts';
import { pairAttacks } from './pairs.ts';
import { recordAttacks } from './record-attacks.ts';
import { EvidenceSuite, donorFor } from './suite.ts';

const { off, unless } = vi.hoisted(() => {
  const off = { checks: [] as readonly string[] };
  const unless =
    <Asked extends readonly unknown[], Found>(check: string, ask: (...asked: Asked) => Found[]) =>
    (...asked: Asked): Found[] =>
      off.checks.includes(check) ? [] : ask(...asked);
  return { off, unless };
});

vi.mock(import('../../lib/judge/evidence/attendance.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    absencesIn: (...asked) =>
      all.absencesIn(...asked).filter(({ code }) => !off.checks.includes(code)),
  };
});
vi.mock(import('../../lib/judge/evidence/machine.ts'), async (original) => {
  const all = await original();
  return { ...all, lateTimers: unless('late timers', all.lateTimers) };
});
vi.mock(import('../../lib/judge/evidence/clients.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    planGaps: unless('plans', all.planGaps),
    blindReads: unless('blind reads', all.blindReads),
  };
});
vi.mock(import('../../lib/judge/facts/table.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    disagreementsIn: (evidence) =>
      all.disagreementsIn(evidence).filter(({ fact }) => !off.checks.includes(`fact ${fact}`)),
  };
});

const suite = new EvidenceSuite();
afterAll(() => suite[Symbol.dispose]());
afterEach(() => {
  off.checks = [];
});

const bases: readonly BaseName[] = ['fenced', 'untouched'];
const attacks = [...attacksOf(bases), ...recordAttacks()];

/** Whether nobody notices it: an attack on one witness, on two, or a kind planted by hand. */
function escapes(name: string): boolean {
  const attack = attacks.find((each) => each.name === name);
  if (attack !== undefined) return suite.attack(attack, donorFor(attack.base)).fate === 'survived';
  const pair = pairAttacks().find((each) => each.name === name);
  if (pair !== undefined) return suite.pair(pair, 0)?.fate === 'survived';
  const mutant = evidenceMutants.find((each) => each.name === name);
  if (mutant === undefined) throw new Error(`there is no attack ${name}`);
  return !suite.mutant(mutant).caught;
}

test.each(
  Object.entries({
    'fact phases': 'phase-steady-gone',
    'fact act': 'remedy-gone',
    OBSERVER_SILENT: 'machine gone of the whole run',
    'late timers': 'timer-a-minute-late',
    'WITNESS_MUTE, fact podRequest, fact attachment': 'control-plane-tells-nothing-by-audit',
    CERTIFICATE_SILENT: 'certificates-asked-again-gone',
    'fact certified': 'certificate claim altered',
    'fact node': 'node-gone+node-ready+node-taints gone',
    'fact reached': 'victim-read-from-outside-in-the-partition',
    'fact owner': 'device-cut of both nodes on fenced',
    'fact attached': 'attachment-attached+attachment-gone gone elsewhere on fenced',
    'fact copy': 'image evidence.opened.stamp altered',
    'CLIENT_GAP, plans': 'client-beat gone',
    'blind reads': 'readers-are-frozen-at-the-fault',
  }),
)(
  'without the checks of %s, %s escapes',
  (checks, name) => {
    expect(escapes(name)).toBe(false);
    off.checks = checks.split(', ');
    expect(escapes(name)).toBe(true);
  },
  60_000,
);
