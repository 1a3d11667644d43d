/** Runs one case of test/full on a kept kind cluster and checks what all share. */
import { expect } from 'vitest';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { shortFlagsBeside } from '../../research/short-flags.ts';
import type { MeasuredCase } from './measured-case.ts';
import { runExperiment, type ExperimentResult } from '../cluster/experiment.ts';

export const runCase = (
  { experiment, flags }: MeasuredCase,
  clusterName: string,
): Promise<ExperimentResult> => {
  const where = ['--cluster', 'kind', '--cluster-name', clusterName, '--keep'];
  const words = `${shortFlagsBeside(flags)} ${flags}`.split(' ').filter(Boolean);
  return runExperiment(experiment, [...where, ...words]);
};

/** The verdict is expected, the second mount came or not, and the log of writes was kept. */
export function expectCase(
  { secondMount, flags }: MeasuredCase,
  { verdict, exitCode, stderr, folder }: ExperimentResult,
): Verdict {
  if (verdict === undefined) throw new Error(`no verdict:\n${stderr}`);
  const { expected, incompleteBecause, findings, phases, exposure } = verdict;
  const told = [
    folder,
    verdict.sentence,
    ...incompleteBecause,
    ...findings.map(({ code, summary }) => `${code}: ${summary}`),
  ].join('\n');
  expect(expected, told).toContain(verdict.verdict);
  expect(exitCode, told).toBe(0);
  const isSecond = phases.secondMount !== null;
  expect(isSecond, told).toBe(secondMount ?? isSecond);
  const keepsLog = !flags.includes('shared-file');
  if (exposure.ms > 0 && keepsLog) expect(exposure.blocksBoth, told).toBeDefined();
  return verdict;
}
