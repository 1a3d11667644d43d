import { expect, test } from 'vitest';
import { Chance } from './chance.ts';

test('a draw depends on its stream and number alone', () => {
  const chance = Chance.of('seed');
  const third = chance.at(2);
  chance.stream(7).float();
  chance.float();
  chance.float();
  expect(chance.float()).toBe(third);
  expect(Chance.of('seed').stream(7).float()).toBe(chance.stream(7).float());
});

test('both ends come, streams differ, and draws are even', () => {
  const chance = Chance.of('seed');
  const counts = [0, 0, 0, 0];
  for (let n = 0; n < 4000; n++) {
    const drawn = chance.int(0, 3);
    counts[drawn] = (counts[drawn] ?? 0) + 1;
  }
  // Four standard deviations of a binomial with n = 4000, p = 1/4.
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(110);
  expect(chance.stream(1).float()).not.toBe(chance.stream(2).float());
});
