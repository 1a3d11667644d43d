/** The same matrix with other settings for all cells: shortened timers, another Kubernetes. */
import { UsageError } from '../core/index.ts';
import { shortTimersMs, stockTimersMs, goesWith, type Settings } from '../scenario/index.ts';
import type { Axis, Matrix } from './matrix-schema.ts';

/**
 * A forced detach comes 55 s after the fault, and on two full cores the mount that follows it came
 * after 82 s: what has not come by the horizon was refused. Databases that came back did within 51 s.
 */
const short = { ...shortTimersMs, horizonMs: 120_000, convergeMs: 60_000 } satisfies Settings;

/** Fields that cells set for themselves, in the order of the file. */
const ownFields = ({ axes, include }: Matrix): string[] =>
  [...axes.flatMap(({ values }) => values.map(({ settings }) => settings)), ...include].flatMap(
    (settings) => Object.keys(settings),
  );

/** Throws UsageError `MATRIX_HAS_VERSIONS` where cells differ in it. */
export function onKubernetes(matrix: Matrix, kubernetes: string): Matrix {
  if (!ownFields(matrix).includes('kubernetes')) {
    return { ...matrix, base: { ...matrix.base, kubernetes } };
  }
  throw new UsageError('MATRIX_HAS_VERSIONS', `the cells of ${matrix.name} differ in kubernetes`, {
    hint: 'omit --kubernetes, or select cells of one version with --only',
  });
}

/**
 * In minutes where stock timers take a quarter of an hour.
 * Throws UsageError `MATRIX_HAS_TIMERS` where cells differ in a timer that would be shortened, or in the horizon alone.
 */
export function shorten(matrix: Matrix): Matrix {
  const timer =
    ownFields(matrix).find((key) => key in stockTimersMs) ??
    (matrix.axes.some(isOfHorizon) ? 'horizonMs' : undefined);
  if (timer !== undefined) {
    throw new UsageError('MATRIX_HAS_TIMERS', `the cells of ${matrix.name} differ in ${timer}`, {
      hint: 'omit --short, or set the timers in the file',
    });
  }
  return {
    ...matrix,
    base: { ...matrix.base, ...shortBeside(matrix.base) },
    axes: matrix.axes.map((axis) => ({
      ...axis,
      values: axis.values.map((value) => ({ ...value, settings: withoutHorizon(value.settings) })),
    })),
    include: matrix.include.map(withoutHorizon),
  };
}

/** A wait that is switched off has no length; cells that switch it off drop it by themselves. */
const shortBeside = (base: Settings): Settings =>
  Object.fromEntries(
    Object.entries(short).filter(([field]) => goesWith(field as keyof typeof short, base)),
  );

/** An axis whose cells would all be the same, under labels that differ. */
const isOfHorizon = ({ values }: Axis): boolean =>
  values.every(({ settings }) => Object.keys(settings).join() === 'horizonMs');

const withoutHorizon = (settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([field]) => field !== 'horizonMs'));
