/** A node's share of the CPU, by the engine's limit, and whether that limit bites. */
import { setTimeout as sleep } from 'node:timers/promises';
import { firstProcessOf, inspect, run } from '../../../engine/run.ts';
import * as engine from '../../../engine/commands.ts';

/** The longest that the kernel takes: pauses of a second, and shares down to a thousandth. */
const periodUs = 1_000_000;
const measuredMs = 3_000;
/** The kernel takes no less (sched/core.c, min_cfs_quota_period). */
const leastQuotaUs = 1_000;

/** `share`: of one CPU. */
export async function limitCpu(node: string, share: number): Promise<void> {
  const quotaUs = Math.max(leastQuotaUs, Math.round(share * periodUs));
  const limit = ['--cpu-period', String(periodUs), '--cpu-quota', String(quotaUs)];
  await run(engine.update(node, ...limit));
}

export const unlimit = (node: string): string[] => engine.update(node, '--cpu-quota', '-1');

export async function unlimitCpu(node: string): Promise<void> {
  const [found] = (await inspect('container', [node])) as {
    readonly HostConfig: { readonly CpuQuota: number };
  }[];
  if (found !== undefined && found.HostConfig.CpuQuota > 0) {
    await run(unlimit(node));
  }
}

/** In which share of three seconds' periods the limit stopped processes of the node. */
export async function limitedPeriods(node: string, lab: string): Promise<number> {
  const pid = await firstProcessOf(node);
  const before = await readPeriods(pid, lab);
  await sleep(measuredMs);
  const after = await readPeriods(pid, lab);
  const periods = after.all - before.all;
  return periods === 0 ? 0 : (after.limited - before.limited) / periods;
}

/** Read from the lab, since a node that starves answers late: cgroup v1 has a folder of its own. */
async function readPeriods(pid: string, lab: string): Promise<{ all: number; limited: number }> {
  const root = `/proc/${pid}/root/sys/fs/cgroup`;
  const script = `cat ${root}/cpu/cpu.stat 2>/dev/null || cat ${root}/cpu.stat`;
  const text = await run(engine.shell(lab, script));
  const read = (name: string): number =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { all: read('nr_periods'), limited: read('nr_throttled') };
}
