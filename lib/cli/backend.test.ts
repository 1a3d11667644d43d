import { expect, test } from 'vitest';
import { chooseBackend, type EngineProbe } from './backend.ts';

const engine: EngineProbe = async () => ({ answers: true, detail: '28.2.2' });
const noEngine: EngineProbe = async () => ({ answers: false, detail: 'is the daemon running?' });

test('auto takes kind where an engine answers and says so', async () => {
  const choice = await chooseBackend('auto', engine);
  expect(choice.backend).toBe('kind');
  expect(choice.why).toContain('28.2.2');
});

test('auto takes the model where none answers and says so', async () => {
  const choice = await chooseBackend('auto', noEngine);
  expect(choice).toEqual({ backend: 'sim', why: 'no Docker engine answers' });
});

test('sim asks no engine', async () => {
  const never: EngineProbe = () => Promise.reject(new Error('asked'));
  expect((await chooseBackend('sim', never)).backend).toBe('sim');
});

test('kind without an engine is an infrastructure error with a hint', async () => {
  await expect(chooseBackend('kind', noEngine)).rejects.toMatchObject({
    code: 'ENGINE_MISSING',
    exitCode: 4,
    hint: expect.stringContaining('start the engine'),
    message: expect.stringContaining('is the daemon running?'),
  });
});
