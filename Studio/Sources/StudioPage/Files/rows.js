import {h, fill, icon, button, popover, grouped, failure, announce, plural} from './dom.js';
import {post, address} from './api.js';
import {store, columns, keep, link, rowsLink, typeWord} from './model.js';
import {Grid} from './grid.js';
import {QueryLine, ExplainPanel} from './query.js';
import {editing} from './editing.js';
import {StoreExport} from './extract.js';

/** The pause before a request that the server gave up is sent again, in milliseconds. */
const retryPause = 200;

/** Where the user was in the rows of each address, so that the way back from an object leads there. */
const positions = new Map();

/** The objects of an entity in a grid. */
export class RowsView {
  constructor(main, place) {
    this.entity = store.entity(place.parts[0]);
    if (!this.entity) {
      fill(main, failure({message: `The model has no entity ${place.parts[0]}.`}));
      return;
    }
    this.title = this.entity.name;
    this.text = place.query.get('q') ?? '';
    this.order = this.orderOf(place);
    this.columns = columns(this.entity);
    this.count = h('span', {class: 'row-count', role: 'status'});
    this.line = new QueryLine(this.entity, this.text, {run: text => this.go({text})});
    this.explain = new ExplainPanel();
    this.grid = new Grid({
      read: (start, count, signal) => this.read(start, count, signal),
      failed: error => this.failed(error),
    }, {
      label: `Objects of ${this.entity.name}`, open: object => { location.hash = link(object); },
      sort: key => this.toggleSort(key), changeColumns: () => keep(this.entity, this.columns),
    });
    this.stale = h('button', {type: 'button', class: 'stale', title: 'The store has changed. Refresh', hidden: true, click: () => this.refresh()}, icon('refresh'), h('span', {class: 'button-name'}, 'The store has changed. Refresh'));
    this.problem = h('div', {class: 'grid-problem', hidden: true});
    fill(main, h('div', {class: 'rows-view'},
      h('header', {class: 'view-head'},
        h('h2', {}, this.entity.name, this.count),
        h('div', {class: 'tools'}, this.stale,
          store.overview.isWritable && !this.entity.isAbstract && button('Insert', 'plus', () => editing.insert(this.entity.name)),
          this.namingMenu(), this.columnsMenu(), this.exportMenu(), this.explainButton())),
      this.line.element, this.explain.element, this.problem, this.grid.frame));
    this.show();
    this.address = location.hash;
    const position = positions.get(this.address);
    this.returns = Boolean(position);
    if (position) this.grid.position = position;
    this.changed = () => { this.stale.hidden = false; };
    document.addEventListener('storechange', this.changed);
    this.explain.element.hidden = !store.setting('explains', false);
    this.explainTrigger.setAttribute('aria-pressed', String(!this.explain.element.hidden));
    this.explain.show(this.form());
  }

  close() {
    if (this.grid) positions.set(this.address, this.grid.position);
    this.grid?.close();
    this.counting?.abort();
    document.removeEventListener('storechange', this.changed);
  }

  /** Gives the keyboard to the rows if the user was in them before. */
  focus() {
    if (this.returns) this.grid.element.focus({preventScroll: true});
    return this.returns;
  }

  orderOf(place) {
    const key = place.query.get('sort');
    return key ? {key, isAscending: place.query.get('desc') === null} : null;
  }

  /** Shows another request of the same entity without building the page anew. */
  update(place) {
    if (place.parts[0] !== this.entity?.name) return false;
    this.address = location.hash;
    this.text = place.query.get('q') ?? '';
    this.order = this.orderOf(place);
    if (this.line.text !== this.text) this.line.input.value = this.text;
    this.line.clearError();
    this.problem.hidden = true;
    this.show();
    this.explain.show(this.form());
    return true;
  }

  go({text = this.text, order = this.order}) {
    const query = new URLSearchParams();
    if (text) query.set('q', text);
    if (order) query.set('sort', order.key);
    if (order && !order.isAscending) query.set('desc', '');
    const next = `#/rows/${encodeURIComponent(this.entity.name)}${query.size ? '?' + query : ''}`;
    if (next === location.hash) this.refresh();
    else location.hash = next;
  }

  toggleSort(key) {
    const isOwn = this.order?.key === key;
    announce(!isOwn ? `Sorted by ${key}, ascending` : this.order.isAscending ? `Sorted by ${key}, descending` : 'Sorted by key');
    this.go({order: !isOwn ? {key, isAscending: true} : this.order.isAscending ? {key, isAscending: false} : null});
  }

  get shown() { return this.columns.filter(column => column.isShown); }

  form() {
    return {
      entity: this.entity.name, text: this.text, columns: this.shown.map(column => column.name), naming: store.naming,
      order: this.order ? [this.order] : [], start: 0, count: 0, look: this.look,
    };
  }

  show() {
    this.begin();
    this.count.textContent = '';
    this.grid.setColumns(this.shown, this.order);
    this.grid.reload();
  }

  refresh() {
    this.begin({isFresh: true});
    this.stale.hidden = true;
    this.grid.reload({keepsPlace: true});
  }

  async read(start, count, signal) {
    const answer = await post('rows', {...this.form(), start, count, isFresh: this.isFresh}, signal);
    if (answer.total === null) this.awaitTotal(this.counting.signal);
    else this.showTotal(answer.total);
    this.line.clearError();
    this.problem.hidden = true;
    return answer;
  }

  /**
   * Begins a look at the rows, all of whose windows the server takes from one list.
   * A total belongs to one request: counting for the one before ends.
   */
  begin({isFresh = false} = {}) {
    this.look = `${Date.now()}/${Math.random()}`;
    this.isFresh = isFresh;
    this.counting?.abort();
    this.counting = new AbortController();
  }

  /** Long lists are counted while their first rows are shown already. */
  async awaitTotal(signal) {
    this.count.textContent = 'counting …';
    try {
      const {total} = await post('rows', {...this.form(), isCounting: true}, signal);
      if (signal.aborted) return;
      this.showTotal(total);
      this.grid.setTotal(total);
      this.grid.draw();
    } catch (error) {
      if (error.name === 'AbortError' || signal.aborted) return;
      // The server gave the list up for those of other pages; it begins anew.
      if (error.name === 'interrupted') setTimeout(() => { if (!signal.aborted) this.awaitTotal(signal); }, retryPause);
      else this.failed(error);
    }
  }

  showTotal(total) { this.count.textContent = plural(total, 'object'); }

  failed(error) {
    this.count.textContent = '';
    this.grid.setTotal(0);
    this.grid.draw();
    if (this.text && error.status === 400) return this.line.showError(error);
    fill(this.problem, failure(error));
    this.problem.hidden = false;
  }

  // MARK: Menus

  explainButton() {
    this.explainTrigger = button('SQL', 'code', () => {
      const isShown = this.explain.element.hidden;
      this.explain.element.hidden = !isShown;
      store.set('explains', isShown);
      this.explainTrigger.setAttribute('aria-pressed', String(isShown));
      this.explain.show(this.form());
    });
    return this.explainTrigger;
  }

  namingMenu() {
    const name = h('span', {}, store.namingAttribute(this.entity) ?? 'key');
    const trigger = h('button', {type: 'button', class: 'button', title: 'The attribute that names objects of this entity'}, icon('tag'),
      h('span', {class: 'button-name'}, h('span', {class: 'tool-note'}, 'Name: '), name));
    return popover(trigger, close => {
      const names = this.entity.attributes.filter(attribute => !attribute.isTransient && attribute.type !== 'composite' && attribute.type !== 'binary');
      const current = store.namingAttribute(this.entity);
      return [h('h2', {}, 'Name objects by'), h('div', {class: 'choices'}, names.map(attribute => h('label', {},
        h('input', {type: 'radio', name: 'naming', checked: attribute.name === current, change: () => {
          store.choose(this.entity, attribute.name);
          name.textContent = attribute.name;
          this.grid.reload({keepsPlace: true});
        }}), attribute.name, h('span', {class: 'muted'}, attribute.type))))];
    }, {label: 'Name objects by'});
  }

  columnsMenu() {
    const trigger = button('Columns', 'columns');
    return popover(trigger, () => {
      const list = h('ul', {class: 'column-list'});
      const apply = () => { keep(this.entity, this.columns); this.show(); count(); };
      const hidden = h('p', {class: 'muted'});
      const count = () => { hidden.textContent = `${this.shown.length} of ${this.columns.length} are shown.`; };
      const move = (index, by) => {
        const [column] = this.columns.splice(index, 1);
        this.columns.splice(index + by, 0, column);
        apply();
        draw();
        list.children[index + by].querySelector(by < 0 ? '.up' : '.down')?.focus();
      };
      const draw = () => fill(list, this.columns.map((column, index) => h('li', {},
        h('label', {}, h('input', {type: 'checkbox', checked: column.isShown, change: event => { column.isShown = event.target.checked; apply(); }}),
          h('span', {class: 'column-name'}, column.name), h('span', {class: 'muted'}, typeWord(column.property))),
        button(`Move ${column.name} to the left`, 'up', () => move(index, -1), {iconOnly: true, class: 'icon-button up', disabled: index === 0}),
        button(`Move ${column.name} to the right`, 'down', () => move(index, 1), {iconOnly: true, class: 'icon-button down', disabled: index === this.columns.length - 1}))));
      draw();
      count();
      return [h('h2', {}, 'Columns'), hidden, list, h('button', {type: 'button', class: 'button', click: () => {
        store.set(`columns/${this.entity.name}`, null);
        this.columns = columns(this.entity);
        this.show();
        draw();
        count();
      }}, 'Default columns')];
    }, {label: 'Columns'});
  }

  exportMenu() {
    const trigger = button('Export', 'download');
    const target = format => address('export', {
      entity: this.entity.name, text: this.text, columns: this.shown.map(column => column.name).join(','), format,
      sort: this.order?.key, descending: this.order && !this.order.isAscending ? '' : null,
    });
    return popover(trigger, close => [h('h2', {}, 'Export what is shown'), h('div', {class: 'choices'},
      h('a', {href: target('csv'), download: '', click: () => setTimeout(close)}, 'Comma-separated values'),
      h('a', {href: target('jsonl'), download: '', click: () => setTimeout(close)}, 'JSON lines'),
      new StoreExport(() => this.form()).element)], {label: 'Export'});
  }
}
