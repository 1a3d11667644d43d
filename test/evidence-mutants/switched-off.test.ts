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

test.each(
  Object.entries({
    'fact phases': 'phase-steady-gone',
    'fact act': 'remedy-gone',
    observers: 'machine-gone',
    'late timers': 'timer-a-minute-late',
    'mutes, fact podRequest, fact attachment': 'control-plane-tells-nothing-by-audit',
    certificates: 'certificates-after-gone',
    'fact node': 'node-ready-throughout',
    'fact reached': 'victim-read-from-outside-in-the-partition',
    'fact owner': 'cut-told-of-two-nodes',
    'fact attached': 'attachment-of-the-successor-never-seen',
    'fact copy': 'copy-changed-before-its-audit',
    clients: 'clients-beats-gone-from-the-fault-on',
    'blind reads': 'clients-readers-are-frozen-at-the-fault',
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
