// Events out of their text; docs/json.md says what the letters mean.

const kWhat = ["allocate", "free", "reserve", "release", "commit", "decommit", "map", "unmap"];

const kDigits = (() => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const values = new Uint8Array(128);
  for (let i = 0; i < 64; ++i) values[letters.charCodeAt(i)] = i;
  return values;
})();

/** Arrays by event, from 0: what, scope, step, micro, kind, offset, granted. */
function decodeEvents(timeline) {
  const {code, kinds} = timeline;
  const count = timeline.events;
  const events = {
    count,
    what: new Uint8Array(count), scope: new Uint32Array(count), step: new Int32Array(count),
    micro: new Int32Array(count), kind: new Uint32Array(count), buffer: new Uint32Array(count),
    offset: new Float64Array(count), granted: new Float64Array(count),
  };
  let at = 0, size = 0;
  const digits = () => {
    let value = 0;
    for (let times = 1;; times *= 32) {
      const digit = kDigits[code.charCodeAt(at++)];
      value += (digit & 31) * times;
      if (digit < 32) return value;
    }
  };
  const signed = (value) => value % 2 ? -(value + 1) / 2 : value / 2;
  let buffer = -1, kind = -1, scope = -1, step = 0, micro = 0, end = 0, driver = 0;
  const places = new Map();
  const add = (what, place) => {
    events.what[size] = what;
    events.scope[size] = scope;
    events.step[size] = step;
    events.micro[size] = place.micro;
    events.kind[size] = place.kind;
    events.buffer[size] = buffer;
    events.offset[size] = place.offset;
    events.granted[size] = place.granted;
    size += 1;
  };
  const born = (place) => {
    place.micro = kinds[place.kind].micro ? micro : -1;
    end = place.offset + place.granted;
    add(0, place);
  };
  while (at < code.length) {
    const number = digits();
    const difference = signed(Math.floor(number / 8));
    switch (number % 8) {
      case 0: add(1, places.get(buffer += difference)); break;
      case 1: born(places.get(buffer += difference)); break;
      case 2: {
        buffer += difference;
        kind += signed(digits());
        const offset = end + signed(digits());
        const place = {kind, offset, granted: kinds[kind].bytes + signed(digits()), micro: -1};
        places.set(buffer, place);
        born(place);
        break;
      }
      case 3: scope += difference; break;
      case 4: step += difference; break;
      case 5: micro += difference; break;
      default: {
        driver += signed(digits());
        add(difference, {kind: 0, micro: -1, offset: driver, granted: digits()});
      }
    }
  }
  return events;
}
