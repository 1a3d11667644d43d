/** Scores that only an honest forecaster gets best: what he believes, neither more nor less sure. */
import type { Interval } from './compare.ts';

/** Nine in ten lie within. */
const outside = 0.1;

/**
 * Winkler's score of an interval of nine in ten (Winkler 1972; Gneiting and Raftery 2007, §6.2): its
 * width, and twenty times what the value lies beside it. In the value's unit; less is better.
 */
export function winkler({ from, to }: Interval, value: number): number {
  const beside = Math.max(0, from - value, value - to);
  return to - from + (2 / outside) * beside;
}

export const isInside = ({ from, to }: Interval, value: number): boolean =>
  value >= from && value <= to;

/** Brier's score of a probability: 0 where it was sure and right, 1 where it was sure and wrong. */
export const brier = (probability: number, happened: boolean): number =>
  (probability - (happened ? 1 : 0)) ** 2;

/** Over all words: 0 where it was sure and right, 2 where it was sure and wrong. */
export function brierOfWords(shares: Readonly<Record<string, number>>, happened: string): number {
  const words = new Set([...Object.keys(shares), happened]);
  return [...words].reduce((sum, word) => sum + brier(shares[word] ?? 0, word === happened), 0);
}
