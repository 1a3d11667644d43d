/**
 * Controls: runs whose outcome is known. A batch that does not see damage which is there, total or
 * small and silent, or that sees some where there can be none, proves nothing.
 */
import { parseScenario, type Scenario, type Settings } from '../scenario/index.ts';
import type { RunOutcome } from './results.ts';

export const controlRoles = ['total', 'silent', 'safe'] as const;
export type ControlRole = (typeof controlRoles)[number];

export interface Control {
  readonly role: ControlRole;
  readonly label: string;
  readonly scenario: Scenario;
}

interface ControlDeclaration {
  readonly label: string;
  readonly settings: Settings & Pick<Scenario, 'fault'>;
  readonly expected: Scenario['expected'];
  /** Empty where the outcome is the known one, else what is wrong with it. */
  readonly judge: (outcome: RunOutcome) => string;
}

/** A binary log is synced at each commit: on a slow disk the last second then has one or none. */
const losingTheTail = { trxCommit: 2, binlog: 'off' } as const;

/** Tainted at once, so that a control costs no wait for a forced detach. */
const soon = { remedy: 'out-of-service', remedyAt: 5000 } as const;

const controls: Readonly<Record<ControlRole, ControlDeclaration>> = {
  total: {
    label: 'crash on a disk that ignores flushes: loud damage',
    settings: { fault: 'node-crash', flushes: 'ignored', powerLoss: 'drops', ...soon },
    expected: ['lost', 'corrupt'],
    judge: ({ verdict, beforeFault, ...whole }) => {
      // A successor that serves for long commits more than there was to lose.
      const { lost, acked } = beforeFault ?? whole;
      const isSeen = (verdict === 'lost' || verdict === 'corrupt') && (lost ?? 0) * 2 > acked;
      const found = `${lost ?? 'an unknown number'} of ${acked} were (${verdict})`;
      return isSeen ? '' : `most commits had to be lost, and ${found}`;
    },
  },
  silent: {
    label: 'crash with trx_commit 2: a few commits lost, silently',
    settings: { fault: 'node-crash', ...losingTheTail, powerLoss: 'drops', ...soon },
    expected: ['lost'],
    judge: ({ verdict, lost, acked, noticed }) =>
      verdict === 'lost' && lost !== null && lost > 0 && lost * 10 < acked && noticed === 'silent'
        ? ''
        : `a few commits had to be lost silently: ${lost ?? 'an unknown number'} of ${acked}, ${noticed ?? 'nothing to notice'} (${verdict})`,
  },
  safe: {
    label: 'partition on a disk that fences: another node mounts, and nothing is lost',
    settings: { fault: 'network-partition', disk: 'fenced', ...soon },
    expected: ['safe'],
    judge: ({ verdict, secondMountS, served }) =>
      verdict === 'safe' && secondMountS !== null && served !== false
        ? ''
        : `a second mount without damage was expected, and a database that serves (${verdict})`,
  },
};

/** Fields that controls take over from the matrix: on which Kubernetes, and how long things last. */
const shared = [
  'kubernetes',
  'featureGates',
  'graceMs',
  'tolerationMs',
  'forceDetachAfterMs',
  'warmupMs',
  'overlapMs',
  'patienceMs',
  'horizonMs',
  'convergeMs',
] as const;

export function controlsOf(base: Settings): Control[] {
  const timers = Object.fromEntries(
    shared.filter((field) => base[field] !== undefined).map((field) => [field, base[field]]),
  );
  return controlRoles.map((role) => {
    const { label, settings, expected } = controls[role];
    const about = { name: `control-${role}`, question: `A control: ${label}.` };
    return { role, label, scenario: parseScenario({ ...timers, ...settings, ...about, expected }) };
  });
}

/** Empty where the control holds. */
export const judgeControl = (role: ControlRole, outcome: RunOutcome): string =>
  controls[role].judge(outcome);
