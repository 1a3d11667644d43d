/** A certificate says which disk is played; what is typed beside it must go with that. */
import { expect, test } from 'vitest';
import { request } from '../../../test/support/partition-request.ts';

const certificate = 'test/fixtures/certificates/block.acme.example/dac05a0c7485.json';

test('a certificate says the disk, its delay and where they are from; the replay asks it again', () => {
  const made = request('--disk-from', certificate, '--disk-class', 'dolomite');
  expect(made.scenario).toMatchObject({
    disk: { mode: 'ack-early', cutAfter: 4682 },
    diskFrom: { driver: 'block.acme.example', storageClass: 'dolomite' },
  });
  expect(request(...made.replay('sim').split(' ').slice(3)).scenario).toEqual(made.scenario);
});

test.each<readonly [string, string, string]>([
  ['another kind of disk', 'dolomite', '--watcher-check missing --file-locks local'],
  ['its own kind, beside one of another', 'amber', '--disk unfenced --watcher-check missing'],
])('a certificate is not played beside a field of %s', (_, storageClass, words) => {
  const typed = ['--disk-from', certificate, '--disk-class', storageClass, ...words.split(' ')];
  expect(() => request(...typed)).toThrow(
    expect.objectContaining({
      code: 'DISK_CONFLICT',
      message: expect.stringMatching(/--watcher-check/) as string,
      hint: expect.any(String) as string,
    }),
  );
});

test('a class without its certificate is refused, with a hint', () => {
  expect(() => request('--disk-class', 'amber')).toThrow(
    expect.objectContaining({ code: 'DISK_CONFLICT', hint: expect.any(String) as string }),
  );
});
