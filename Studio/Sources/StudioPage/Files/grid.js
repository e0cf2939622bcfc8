import {h, fill, plural, announce} from './dom.js';
import {isNumeric, link, typeWord} from './model.js';
import {cellContent, marks} from './cells.js';

const rowHeight = 28;
/** The width of the column of keys, which stays in view. */
const keyWidth = 64;
const windowSize = 100;
const keptWindows = 24;
/** Browsers limit the height of an element; longer lists scroll by fractions of their length. */
const greatestHeight = 8_000_000;

/**
 * A grid over any number of rows: it holds the rows in view, and the last windows of rows around them.
 *
 * `source.read(start, count, signal)` resolves to `{rows, total}`, where the total may not be known yet.
 */
export class Grid {
  constructor(source, {label, open, sort, changeColumns}) {
    this.source = source;
    this.open = open;
    this.sort = sort;
    this.changeColumns = changeColumns;
    this.windows = new Map();
    this.requests = new Map();
    this.total = null;
    this.columns = [];
    this.order = null;
    this.top = 0;
    this.cursor = {row: 0, column: 0};
    this.head = h('div', {class: 'grid-head', role: 'row', 'aria-rowindex': '1'});
    this.body = h('div', {class: 'grid-body', role: 'presentation'});
    this.sizer = h('div', {class: 'grid-sizer', role: 'presentation'});
    this.element = h('div', {class: 'grid', role: 'grid', 'aria-label': label, 'aria-readonly': 'true', 'aria-describedby': 'grid-help', tabindex: '0',
      scroll: () => this.scrolled(), keydown: event => this.keys(event), focus: () => this.draw(), blur: () => this.draw()},
      this.head, this.body, this.sizer);
    // Assistive technologies know the number of columns.
    this.more = h('button', {type: 'button', class: 'more-columns', tabindex: '-1', 'aria-hidden': 'true', hidden: true,
      click: () => this.element.scrollBy({left: Math.max(this.element.clientWidth - 2 * keyWidth, keyWidth), behavior: 'smooth'})});
    this.frame = h('div', {class: 'grid-frame'}, this.element, this.more,
      h('p', {id: 'grid-help', class: 'unseen'}, 'Arrow keys move. Enter opens the object. S sorts by the column.'));
    this.rows = [];
    this.resize = new ResizeObserver(() => { this.draw(); this.showEdges(); });
    this.resize.observe(this.element);
  }

  close() {
    this.resize.disconnect();
    for (const request of this.requests.values()) request.abort();
  }

  /** Shows other columns, or the same in another order. */
  setColumns(columns, order) {
    this.columns = columns;
    this.order = order;
    this.cursor.column = Math.min(this.cursor.column, Math.max(columns.length - 1, 0));
    this.setWidths();
    this.element.setAttribute('aria-colcount', columns.length + 1);
    fill(this.head, h('div', {class: 'head-cell key', role: 'columnheader', 'aria-colindex': '1', 'aria-label': 'Key'}, '#'),
      columns.map((column, index) => this.headCell(column, index)));
    for (const row of this.rows) row.element.remove();
    this.rows = [];
  }

  setWidths() {
    this.width = this.columns.reduce((sum, column) => sum + column.width, keyWidth);
    this.element.style.setProperty('--columns', [keyWidth, ...this.columns.map(column => column.width)].map(width => `${width}px`).join(' '));
    this.element.style.setProperty('--width', `${this.width}px`);
    this.showEdges();
  }

  /** Shows at which edges the columns continue, and how many there are beyond the right one. */
  showEdges() {
    const {scrollLeft, clientWidth} = this.element;
    let [count, rest] = [0, this.width - scrollLeft - clientWidth];
    // A column that is cut by less than its padding is all there.
    for (let index = this.columns.length - 1; index >= 0 && rest > 8; index--) {
      rest -= this.columns[index].width;
      count++;
    }
    this.frame.classList.toggle('continues-left', scrollLeft > 0);
    this.frame.classList.toggle('continues-right', count > 0);
    this.more.hidden = count === 0 || clientWidth === 0;
    this.more.textContent = `+${count} ›`;
    this.more.title = plural(count, 'more column');
  }

  headCell(column, index) {
    const isSorted = this.order?.key === column.name;
    const canSort = column.property.destination === undefined || !column.property.isToMany;
    const cell = h('div', {class: `head-cell${isNumeric(column.property) ? ' numeric' : ''}`, role: 'columnheader', 'aria-colindex': index + 2,
      'aria-sort': isSorted ? (this.order.isAscending ? 'ascending' : 'descending') : 'none', title: `${column.name}: ${typeWord(column.property)}`},
      h('button', {type: 'button', class: 'head-button', tabindex: '-1', disabled: !canSort, click: () => this.sort(column.name)},
        h('span', {class: 'head-name'}, column.name), marks(column.property),
        isSorted && h('span', {class: 'sort-mark', 'aria-hidden': 'true'}, this.order.isAscending ? '▲' : '▼')));
    const handle = h('span', {class: 'resizer', 'aria-hidden': 'true'});
    handle.addEventListener('pointerdown', event => this.resizeColumn(event, column, handle));
    cell.append(handle);
    return cell;
  }

  resizeColumn(event, column, handle) {
    event.preventDefault();
    const [start, width] = [event.clientX, column.width];
    handle.setPointerCapture(event.pointerId);
    const move = event => {
      column.width = boundedWidth(width + event.clientX - start);
      this.setWidths();
    };
    handle.addEventListener('pointermove', move);
    handle.addEventListener('pointerup', () => {
      handle.removeEventListener('pointermove', move);
      this.changeColumns();
    }, {once: true});
  }

  /** Reads everything anew. */
  reload({keepsPlace = false} = {}) {
    for (const request of this.requests.values()) request.abort();
    this.requests.clear();
    this.hasFailed = false;
    this.stale = keepsPlace ? this.windows : new Map();
    this.windows = new Map();
    if (!keepsPlace) {
      this.total = null;
      this.top = 0;
      this.cursor.row = 0;
      this.element.scrollTop = 0;
    }
    this.setTotal(this.total);
    this.draw();
  }

  /** Where the user is in the rows. */
  get position() { return {total: this.total, top: this.top, left: this.element.scrollLeft, cursor: {...this.cursor}}; }

  set position({total, top, left, cursor}) {
    this.setTotal(total);
    this.cursor = {row: cursor.row, column: Math.min(cursor.column, Math.max(this.columns.length - 1, 0))};
    this.top = this.bounded(top);
    this.place();
    this.element.scrollLeft = left;
    this.draw();
  }

  setTotal(total) {
    this.total = total;
    const known = total ?? windowSize;
    this.length = known * rowHeight;
    this.height = Math.min(this.length, greatestHeight);
    this.sizer.style.height = `${this.height}px`;
    this.element.setAttribute('aria-rowcount', total === null ? -1 : total + 1);
    if (total !== null) this.cursor.row = Math.min(this.cursor.row, Math.max(total - 1, 0));
  }

  get viewHeight() { return Math.max(this.element.clientHeight - rowHeight - 2, rowHeight); }

  // MARK: Scrolling

  /** `top` is the position in the whole list; the element's own position is a fraction of it in long lists. */
  scrolled() {
    this.showEdges();
    const position = this.element.scrollTop;
    if (this.length <= this.height) {
      this.top = position;
    } else if (position !== this.lastPosition) {
      const delta = position - (this.lastPosition ?? 0);
      const end = this.element.scrollHeight - this.element.clientHeight;
      if (position <= 0) this.top = 0;
      else if (position >= end - 1) this.top = this.greatestTop;
      else if (Math.abs(delta) < this.viewHeight * 2) this.top = this.bounded(this.top + delta);
      else this.top = this.bounded(position / end * this.greatestTop);
      clearTimeout(this.settle);
      // A movement whose event is still to come counts before the scroll bar is moved.
      this.settle = setTimeout(() => this.element.scrollTop === this.lastPosition ? this.place() : this.scrolled(), 200);
    }
    this.lastPosition = position;
    this.draw();
  }

  get greatestTop() { return Math.max(this.length - this.viewHeight, 0); }

  bounded(top) { return Math.max(0, Math.min(top, this.greatestTop)); }

  /** Moves the scroll bar to where the position in the list is. */
  place() {
    const end = this.element.scrollHeight - this.element.clientHeight;
    const position = this.length <= this.height ? this.top
      : this.top <= 0 ? 0 : this.top >= this.greatestTop ? end : Math.max(1, Math.min(end - 2, this.top / this.greatestTop * end));
    this.element.scrollTop = position;
    this.lastPosition = this.element.scrollTop;
  }

  reveal(row) {
    const [start, end] = [row * rowHeight, (row + 1) * rowHeight];
    if (start < this.top) this.top = start;
    else if (end > this.top + this.viewHeight) this.top = end - this.viewHeight;
    else return;
    this.top = this.bounded(this.top);
    this.place();
  }

  // MARK: Rows

  row(index) {
    const window = this.windows.get(Math.floor(index / windowSize)) ?? this.stale?.get(Math.floor(index / windowSize));
    return window?.[index % windowSize];
  }

  draw() {
    if (!this.columns.length && !this.element.isConnected) return;
    const first = Math.floor(this.top / rowHeight);
    const shown = Math.ceil(this.viewHeight / rowHeight) + 1;
    const last = Math.min(first + shown, this.total ?? Math.max(shown, windowSize));
    this.fetch(first, last);
    while (this.rows.length < last - first) this.addRow();
    this.rows.forEach((row, place) => {
      const index = first + place;
      row.element.hidden = index >= last;
      if (index < last) this.fillRow(row, index);
    });
    this.body.style.transform = `translateY(${-(this.top % rowHeight)}px)`;
    const active = this.rows[this.cursor.row - first];
    const isFocused = document.activeElement === this.element;
    for (const row of this.rows) {
      const isActive = row === active && !row.element.hidden;
      row.element.classList.toggle('active', isActive && isFocused);
      row.cells.forEach((cell, index) => cell.classList.toggle('cursor', isActive && isFocused && index === this.cursor.column));
    }
    // A row that isn't read yet has nothing to say.
    const cell = active?.shown && !active.element.hidden ? active.cells[this.cursor.column] : null;
    if (cell) this.element.setAttribute('aria-activedescendant', cell.id);
    else this.element.removeAttribute('aria-activedescendant');
  }

  addRow() {
    const number = this.rows.length;
    const key = h('div', {class: 'cell key', role: 'rowheader', 'aria-colindex': '1'});
    const cells = this.columns.map((column, index) => h('div', {
      class: `cell${isNumeric(column.property) ? ' numeric' : ''}`, role: 'gridcell', 'aria-colindex': index + 2, id: `cell-${number}-${index}`,
    }));
    const element = h('div', {class: 'row', role: 'row'}, key, cells);
    const row = {element, key, cells, shown: null};
    element.addEventListener('click', event => {
      const index = Math.floor(this.top / rowHeight) + this.rows.indexOf(row);
      const column = cells.indexOf(event.target.closest('.cell'));
      this.cursor = {row: index, column: Math.max(column, 0)};
      if (event.target.closest('a')) return;
      this.draw();
      if (event.detail === 2) this.openCursor(false);
    });
    this.rows.push(row);
    this.body.append(element);
  }

  fillRow(row, index) {
    const content = this.row(index);
    const isOdd = index % 2 === 1;
    row.element.classList.toggle('odd', isOdd);
    if (row.shown === content && row.index === index) return;
    row.shown = content;
    row.index = index;
    row.element.setAttribute('aria-rowindex', index + 2);
    row.element.classList.toggle('loading', !content);
    row.element.classList.toggle('gone', content?.cells === null);
    if (!content) {
      fill(row.key);
      for (const cell of row.cells) fill(cell);
      return;
    }
    fill(row.key, h('a', {href: link(content), tabindex: '-1', 'aria-label': `Open ${content.entity} ${content.key}`}, content.key));
    row.cells.forEach((cell, column) => {
      const value = content.cells?.[column];
      fill(cell, content.cells === null ? (column === 0 ? 'deleted' : '') : cellContent(value, this.columns[column]));
      cell.classList.toggle('null', value === null);
    });
  }

  /** Reads the windows in view that aren't there, and gives up those that left the view. */
  fetch(first, last) {
    if (this.hasFailed) return;
    const wanted = new Set();
    for (let number = Math.floor(first / windowSize); number <= Math.floor(Math.max(last - 1, first) / windowSize); number++) wanted.add(number);
    for (const [number, request] of this.requests) {
      if (!wanted.has(number) && number !== 0) { request.abort(); this.requests.delete(number); }
    }
    for (const number of wanted) {
      const known = this.windows.get(number);
      if (known) {
        this.windows.delete(number);
        this.windows.set(number, known);
      } else if (!this.requests.has(number) && (this.total === null || number * windowSize < Math.max(this.total, 1))) {
        this.read(number);
      }
    }
  }

  async read(number) {
    const request = new AbortController();
    this.requests.set(number, request);
    try {
      const {rows, total} = await this.source.read(number * windowSize, windowSize, request.signal);
      if (this.requests.get(number) !== request) return;
      this.requests.delete(number);
      this.windows.set(number, rows);
      this.stale?.delete(number);
      while (this.windows.size > keptWindows) this.windows.delete(this.windows.keys().next().value);
      if (total !== null && total !== this.total) this.setTotal(total);
      else if (total === null && this.total === null && rows.length < windowSize) this.setTotal(number * windowSize + rows.length);
      this.draw();
    } catch (error) {
      if (this.requests.get(number) === request) this.requests.delete(number);
      if (error.name === 'AbortError' || request.signal.aborted) return;
      if (error.name === 'interrupted') {
        // The server gave the list up for those of other pages; what is still in view is read again.
        setTimeout(() => { if (this.element.isConnected) this.draw(); }, 200);
        return;
      }
      this.hasFailed = true;
      this.source.failed?.(error);
    }
  }

  // MARK: Keyboard

  keys(event) {
    if (event.target !== this.element) return;
    const count = this.total ?? windowSize;
    const page = Math.max(1, Math.floor(this.viewHeight / rowHeight) - 1);
    const {row, column} = this.cursor;
    const end = this.columns.length - 1;
    const isWhole = event.ctrlKey || event.metaKey;
    const moves = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageDown: [row + page, column], PageUp: [row - page, column],
      Home: isWhole ? [0, 0] : [row, 0], End: isWhole ? [count - 1, end] : [row, end],
    };
    if (event.altKey) return;
    if (event.key in moves) {
      event.preventDefault();
      const [nextRow, nextColumn] = moves[event.key];
      this.cursor = {row: Math.max(0, Math.min(count - 1, nextRow)), column: Math.max(0, Math.min(end, nextColumn))};
      this.reveal(this.cursor.row);
      this.draw();
      this.revealColumn();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      this.openCursor(true);
    } else if (event.key === 's' && !isWhole) {
      event.preventDefault();
      const column = this.columns[this.cursor.column];
      if (column && !column.property.isToMany) this.sort(column.name);
    } else if (['+', '=', '-'].includes(event.key) && !isWhole) {
      event.preventDefault();
      const column = this.columns[this.cursor.column];
      if (!column) return;
      column.width = boundedWidth(column.width + (event.key === '-' ? -24 : 24));
      this.setWidths();
      this.changeColumns();
      announce(`${column.name}: ${column.width} points wide`);
    }
  }

  revealColumn() {
    const cell = this.element.querySelector('.cursor');
    if (!cell) return;
    const [left, right] = [cell.offsetLeft, cell.offsetLeft + cell.offsetWidth];
    const view = this.element.clientWidth;
    if (left - keyWidth < this.element.scrollLeft) this.element.scrollLeft = Math.max(0, left - keyWidth);
    else if (right > this.element.scrollLeft + view) this.element.scrollLeft = right - view;
  }

  openCursor(followsLink) {
    const content = this.row(this.cursor.row);
    if (!content) return;
    const value = content.cells?.[this.cursor.column];
    this.open(followsLink && value?.entity ? value : content);
  }
}

const boundedWidth = width => Math.max(48, Math.min(1200, width));
