/** Preloaded (`node --import`): this process believes that it is 400 days later. */
const aheadMs = 400 * 24 * 3_600_000;
const RealDate = Date;

const now = () => RealDate.now() + aheadMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (date, given) => Reflect.construct(date, given.length === 0 ? [now()] : given),
  get: (date, name) => (name === 'now' ? now : Reflect.get(date, name)),
});
