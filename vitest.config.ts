/** Test groups. scripts/test.ts runs those whose needs are met and counts. */
import { defineConfig } from 'vitest/config';

const minuteMs = 60_000;
/** Also beside an image build on two cores. What takes longer has a limit of its own, with its reason. */
const unitMs = minuteMs / 2;

export default defineConfig({
  test: {
    // By default one CPU is left to the runner, which does next to nothing: half of a machine of two.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'lib/**/*.test.ts',
            'bench/**/*.test.ts',
            'scripts/**/*.test.ts',
            'test/*.test.ts',
            'test/{contract,property,docs,evidence-mutants}/**/*.test.ts',
          ],
          testTimeout: unitMs,
          hookTimeout: unitMs,
        },
      },
      {
        // Whole plays of the model by the dozen.
        test: {
          name: 'plays',
          include: ['test/plays/**/*.test.ts'],
          testTimeout: 4 * minuteMs,
          hookTimeout: 4 * minuteMs,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 5 * minuteMs,
          hookTimeout: 5 * minuteMs,
        },
      },
      {
        test: {
          name: 'thin',
          include: ['test/thin/**/*.test.ts'],
          testTimeout: 20 * minuteMs,
          hookTimeout: 60 * minuteMs,
        },
      },
      {
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          testTimeout: 20 * minuteMs,
          hookTimeout: 60 * minuteMs,
        },
      },
      {
        // Their runs have clusters of their own, and mostly wait: two files at once.
        test: {
          name: 'ended',
          include: ['test/ended/**/*.test.ts'],
          testTimeout: 20 * minuteMs,
          hookTimeout: 60 * minuteMs,
        },
      },
      {
        test: {
          name: 'full',
          include: ['test/full/**/*.test.ts'],
          testTimeout: 60 * minuteMs,
          hookTimeout: 60 * minuteMs,
        },
      },
      {
        test: {
          name: 'research',
          include: ['research/**/*.test.ts'],
          testTimeout: 60 * minuteMs,
          hookTimeout: 60 * minuteMs,
        },
      },
    ],
  },
});
