import { expect, test } from 'vitest';
import { renderSvg } from './pictures.ts';

test('a label of the name __proto__ is drawn, and changes no object', () => {
  const axisLabel = { interval: 0 };
  const axis = { type: 'category' as const, data: ['__proto__', 'constructor'], axisLabel };
  const series = { type: 'bar' as const, data: [1, 2] };
  const draw = (): string =>
    renderSvg({ animation: false, xAxis: axis, yAxis: {}, series }, 600, 200);
  expect(draw()).toContain('__proto__');
  expect(draw()).toBe(draw());
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Object.hasOwn(Object.prototype, '__proto__')).toBe(true);
});
