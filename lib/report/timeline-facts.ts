/** What stands across the whole time axis (moments, the exposure, what is shown first), and the way back in steps. */
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { exposureOf } from '../timeline/exposure.ts';
import type { Story } from '../timeline/story.ts';
import type { Tone } from './axis/palette.ts';
import type { Bar } from './axis/timeline.ts';
import type { RecoveryStep } from './types.ts';

/** When it broke, was acted upon, was mended; then what happened in between. */
export function momentsOf({ records, faultAtMs = 0 }: Story, { phases }: Verdict): Bar[] {
  const at = (atS: number, tone: Tone, label: string): Bar => ({
    ...{ fromS: atS, toS: atS, tone, label },
  });
  const actions = records
    .filter((record) => record.type === 'action')
    .flatMap(({ actor, name, step, t }): Bar[] => {
      const atS = Math.round(t - faultAtMs) / 1000;
      if (actor === 'fault' && step === 'begin') return [at(atS, 'bad', 'fault')];
      if (actor === 'fault' && step === 'heal') return [at(atS, 'good', 'heal')];
      if (actor === 'remedy' && step === 'begin') return [at(atS, 'action', name)];
      return [];
    });
  const named = [
    ['second mount', phases.secondMount],
    ['first commit', phases.firstCommit],
    ['detached', phases.detached],
    ['NotReady', phases.notReady],
    ['evicted', phases.evicted],
    ['pod gone', phases.podRemoved],
  ] as const;
  return [
    ...actions,
    ...named.flatMap(([label, atS]) => (atS === null ? [] : [at(atS, 'neutral', label)])),
  ];
}

/** The fault and what it led to, with room on both sides; within the whole axis. */
export function firstView(
  { phases: { secondMount, firstCommit } }: Verdict,
  exposure: Bar | null,
  [fromS, toS]: readonly [number, number],
): [number, number] {
  const last = Math.max(secondMount ?? 0, firstCommit ?? 0, exposure?.toS ?? 0);
  if (last === 0) return [fromS, toS];
  const roomS = Math.max(10, last * 0.06);
  return [Math.max(fromS, Math.floor(-roomS)), Math.min(toS, Math.ceil(last + roomS))];
}

/** The verdict knows it from the disk's log; where there was none, the observations tell again. */
export function exposureBand({ exposure }: Verdict, story: Story, zeroMs: number): Bar | null {
  const band = { tone: 'bad', label: 'two could write' } as const;
  const { ms, fromS, toS } = exposure;
  if (fromS !== undefined && toS !== undefined) return { fromS, toS, ...band };
  const { from, to } = exposureOf(story);
  if (ms === 0 || from === undefined || to === undefined) return null;
  const seconds = (ms: number): number => Math.round(ms - zeroMs) / 1000;
  return { fromS: seconds(from), toS: seconds(to), ...band };
}

/** In their order of time. */
export function recoverySteps({ phases }: Pick<Verdict, 'phases'>): RecoveryStep[] {
  const named = [
    ['detection', phases.notReady],
    ['eviction', phases.evicted],
    ['removal', phases.podRemoved],
    ['detach', phases.detached],
    ['attach', phases.attached],
    ['mount', phases.secondMount],
    ['database recovery', phases.recovered],
    ['first commit', phases.firstCommit],
  ] as const;
  const steps: RecoveryStep[] = [];
  let fromS = 0;
  for (const [name, toS] of named) {
    if (toS === null || toS < fromS) continue;
    steps.push({ name, fromS, toS });
    fromS = toS;
  }
  return steps;
}
