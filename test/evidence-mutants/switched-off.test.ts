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

vi.mock(import('../../lib/judge/evidence/certificates.ts'), async (original) => {
  const all = await original();
  return { ...all, certificateGaps: unless('certificates', all.certificateGaps) };
});
vi.mock(import('../../lib/judge/evidence/observers.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    lateTimers: unless('late timers', all.lateTimers),
    observerGaps: unless('observers', all.observerGaps),
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
vi.mock(import('../../lib/judge/facts/table.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    mutesIn: unless('mutes', all.mutesIn),
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
    observers: 'machine gone of the whole run',
    'late timers': 'timer-a-minute-late',
    'mutes, fact podRequest, fact attachment': 'control-plane-tells-nothing-by-audit',
    certificates: 'certificates-asked-again-gone',
    'fact certified': 'certificate claim altered',
    'fact node': 'node-gone+node-ready+node-taints gone',
    'fact reached': 'victim-read-from-outside-in-the-partition',
    'fact owner': 'device-cut of both nodes on fenced',
    'fact attached': 'attachment-attached+attachment-gone gone elsewhere on fenced',
    'fact copy': 'image evidence.opened.stamp altered',
    clients: 'client-beat gone',
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
