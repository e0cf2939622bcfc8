const ends = /\r\n|\r|\n/g;

/**
 * A text with the line ends of another one. Fields for typing make line feeds of them all: lines at the beginning and at
 * the end that are the same in both texts keep their ends, and new lines have the other text's first.
 */
export function restoringLineEnds(text, original) {
  const lines = text.split('\n');
  const [before, known] = [original.split(ends), original.match(ends) ?? []];
  const most = Math.min(lines.length, before.length);
  let head = 0;
  while (head < most && lines[head] === before[head]) head++;
  let tail = 0;
  while (tail < most - head && lines.at(-1 - tail) === before.at(-1 - tail)) tail++;
  const end = index => {
    const rest = lines.length - 1 - index;
    return (index < head ? known[index] : rest <= tail ? known.at(-rest) : null) ?? known[0] ?? '\n';
  };
  return lines.map((line, index) => index < lines.length - 1 ? line + end(index) : line).join('');
}
