/** Expected verdicts: every combination has some, with a reason; the telling ones are as thought. */
import { expect, test } from 'vitest';
import { filesystems, storageLinks } from '../../scenario/disk-kinds.ts';
import { diskModes, accessModes } from '../../scenario/disks/index.ts';
import { remedyKinds } from '../../scenario/remedies/index.ts';
import { contradictions } from '../../scenario/contradictions.ts';
import { withValues } from '../../scenario/fields.ts';
import { expectationOf } from './expectations.ts';
import { parseScenario, type Scenario } from '../../scenario/scenario.ts';

test('every combination has verdicts and a reason', () => {
  const base = parseScenario({
    name: 'test',
    question: '?',
    fault: { kind: 'network-partition' },
    expected: ['safe'],
  });
  const all: Scenario[] = remedyKinds.flatMap((remedy) =>
    diskModes.flatMap((disk) =>
      storageLinks.flatMap((link) =>
        filesystems.flatMap((filesystem) =>
          accessModes.map((accessMode) =>
            withValues(base, [
              ['remedy.kind', remedy],
              ['disk.mode', disk],
              ['fault.link', link],
              ['volume.filesystem', filesystem],
              ['volume.accessMode', accessMode],
            ]),
          ),
        ),
      ),
    ),
  );
  const fitting = all.filter((scenario) => contradictions(scenario).length === 0);
  expect(fitting.length).toBeGreaterThan(500);
  for (const scenario of fitting) {
    const { verdicts, because, isRace } = expectationOf(scenario);
    expect(verdicts.length).toBeGreaterThan(0);
    expect(because).not.toBe('');
    if (scenario.remedy.kind === 'none') expect(verdicts).toEqual(['safe']);
    // Lost and corrupt are one grade.
    expect(isRace).toBe(
      verdicts.includes('safe') ? verdicts.length > 1 : verdicts.includes('exposed'),
    );
  }
});
