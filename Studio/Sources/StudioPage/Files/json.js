/** The depth of the deepest values that are read. */
const deepest = 100;
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Reads a JSON text as it is: `{members}`, `{elements}`, `{string}` or `{literal}`. Numbers stay texts, since those of
 * scripts have 53 bits, and of several members with one name each stays, in its place.
 *
 * Returns undefined for other texts, and for values that are too deep.
 */
export function readJSON(text) {
  try { JSON.parse(text); } catch { return undefined; }
  const list = text.match(tokens);
  let place = 0;
  const read = depth => {
    if (depth > deepest) throw new RangeError('The value is too deep.');
    const first = list[place++];
    if (first === '[') {
      const elements = [];
      while (list[place] !== ']') {
        if (list[place] === ',') place++;
        else elements.push(read(depth + 1));
      }
      place++;
      return {elements};
    }
    if (first === '{') {
      const members = [];
      while (list[place] !== '}') {
        if (list[place] === ',') { place++; continue; }
        const name = JSON.parse(list[place]);
        // After the name comes a colon.
        place += 2;
        members.push([name, read(depth + 1)]);
      }
      place++;
      return {members};
    }
    return first[0] === '"' ? {string: JSON.parse(first)} : {literal: first};
  };
  try { return read(0); } catch { return undefined; }
}
