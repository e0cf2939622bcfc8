import {h, fill, icon, button, grouped, bytes} from './dom.js';
import {store} from './model.js';

const mode = () => h('span', {class: store.overview.isWritable ? 'mode writable' : 'mode'}, store.overview.isWritable ? 'Read-write' : 'Read-only');

/** On narrow screens, the bar above the page, whose button opens the side over it. */
export class Bar {
  constructor(element, side, main) {
    Object.assign(this, {side, main});
    this.menu = button('Menu', 'menu', () => this.isOpen ? this.close() : this.open(), {iconOnly: true, 'aria-controls': side.id, 'aria-expanded': 'false'});
    this.shade = h('div', {class: 'shade', hidden: true, click: () => this.close()});
    fill(element, this.menu, h('span', {class: 'bar-name'}, store.overview.name),
      store.overview.isWritable && h('a', {href: '#/edits', class: 'badge edits-badge', hidden: true}), mode());
    side.after(this.shade);
    side.addEventListener('keydown', event => { if (event.key === 'Escape' && this.isOpen) this.close(); });
    addEventListener('hashchange', () => this.close({returnsFocus: false}));
    // The link of the shown place leads nowhere else.
    side.addEventListener('click', event => { if (event.target.closest('a')) this.close({returnsFocus: false}); });
    matchMedia('(max-width: 760px)').addEventListener('change', () => this.close({returnsFocus: false}));
  }

  get isOpen() { return !this.shade.hidden; }

  open() {
    this.show(true);
    (this.side.querySelector('[aria-current]') ?? this.side.querySelector('a')).focus();
  }

  close({returnsFocus = true} = {}) {
    if (!this.isOpen) return;
    this.show(false);
    if (returnsFocus) this.menu.focus();
    else this.main.focus({preventScroll: true});
  }

  show(isOpen) {
    document.body.classList.toggle('menu-open', isOpen);
    this.menu.setAttribute('aria-expanded', String(isOpen));
    this.shade.hidden = !isOpen;
    this.main.inert = isOpen;
  }
}

/** The store's name, the views, and the tree of entities. */
export class Sidebar {
  constructor(element) {
    this.element = element;
    this.filter = '';
    this.items = new Map();
    const {overview} = store;
    this.links = [
      ['rows', 'Data', 'table'], ['model', 'Model', 'model'], ['migration', 'Migration', 'migration'],
      ['changes', 'Changes', 'changes'],
      ...(overview.isWritable ? [['edits', 'Unsaved changes', 'edit']] : []),
    ].map(([name, title, picture]) => {
      const element = h('a', {href: name === 'rows' ? '#/' : `#/${name}`, class: 'view-link'}, icon(picture), title,
        name === 'edits' && h('span', {class: 'badge edits-badge', hidden: true}));
      return {name, element};
    });
    this.tree = h('ul', {role: 'tree', 'aria-label': 'Entities', class: 'tree', keydown: event => this.keys(event)});
    fill(element,
      h('header', {class: 'store'},
        h('h1', {title: overview.path}, overview.name),
        h('p', {class: 'store-facts'},
          overview.version && h('span', {}, overview.version), overview.bytes !== null && h('span', {}, bytes(overview.bytes)),
          mode())),
      h('nav', {'aria-label': 'Views', class: 'views'}, this.links.map(link => link.element)),
      h('div', {class: 'tree-head'},
        h('input', {type: 'search', class: 'filter', placeholder: 'Filter entities', 'aria-label': 'Filter entities',
          input: event => { this.filter = event.target.value.toLowerCase(); this.draw(); }})),
      h('div', {class: 'tree-scroll'}, this.tree),
      this.notes());
    this.draw();
  }

  notes() {
    const {gaps, notes} = store.overview;
    if (!gaps.length && !notes.length) return null;
    const list = [...gaps, ...notes];
    return h('details', {class: 'notes'}, h('summary', {}, `${list.length} ${list.length === 1 ? 'note' : 'notes'} about the store`),
      h('ul', {}, list.slice(0, 100).map(note => h('li', {}, note))));
  }

  draw() {
    this.items.clear();
    const roots = store.overview.entities.filter(entity => !entity.parent);
    fill(this.tree, roots.map(entity => this.item(entity, 1)));
    this.showCounts();
    this.mark();
  }

  matches(entity) {
    return entity.name.toLowerCase().includes(this.filter) || store.children(entity.name).some(child => this.matches(child));
  }

  item(entity, level) {
    if (!this.matches(entity)) return null;
    const children = store.children(entity.name).map(child => this.item(child, level + 1)).filter(Boolean);
    const count = h('span', {class: 'count'});
    const link = h('a', {href: `#/rows/${encodeURIComponent(entity.name)}`, tabindex: '-1', class: entity.isAbstract ? 'abstract' : null,
      title: entity.isAbstract ? `${entity.name} is abstract` : null},
      h('span', {class: 'entity-name'}, entity.name), count);
    const element = h('li', {role: 'treeitem', 'aria-level': level, 'aria-label': entity.name, 'aria-expanded': children.length ? 'true' : null, tabindex: '-1', 'data-entity': entity.name},
      link, children.length > 0 && h('ul', {role: 'group'}, children));
    element.style.setProperty('--level', level);
    this.items.set(entity.name, {element, link, count});
    return element;
  }

  showCounts() {
    for (const [name, {count}] of this.items) count.textContent = store.counts ? grouped(store.count(name)) : '';
  }

  select(place) {
    this.place = place;
    if (place.name === 'rows' || place.name === 'object') store.set('lastEntity', place.parts[0]);
    this.mark();
  }

  mark() {
    if (!this.place) return;
    const {name, parts} = this.place;
    for (const link of this.links) {
      const isCurrent = link.name === name || (link.name === 'rows' && name === 'object');
      if (isCurrent) link.element.setAttribute('aria-current', 'page'); else link.element.removeAttribute('aria-current');
    }
    const selected = ['rows', 'object'].includes(name) ? parts[0] : null;
    let hasStop = false;
    for (const [entity, {element}] of this.items) {
      const isSelected = entity === selected;
      element.setAttribute('aria-selected', String(isSelected));
      element.tabIndex = isSelected ? 0 : -1;
      hasStop ||= isSelected;
    }
    const first = this.items.values().next().value;
    if (!hasStop && first) first.element.tabIndex = 0;
  }

  keys(event) {
    const items = [...this.tree.querySelectorAll('[role=treeitem]')];
    const item = event.target.closest('[role=treeitem]');
    const place = items.indexOf(item);
    const moves = {ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: items.length - 1};
    if (event.key in moves) {
      event.preventDefault();
      this.focus(items[Math.max(0, Math.min(items.length - 1, moves[event.key]))]);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      item.querySelector('a').click();
    } else if (event.key === 'ArrowLeft') {
      const parent = item.parentElement.closest('[role=treeitem]');
      if (parent) this.focus(parent);
    } else if (event.key === 'ArrowRight') {
      const child = item.querySelector('[role=treeitem]');
      if (child) this.focus(child);
    } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== '/' && event.key !== '?') {
      const next = [...items.slice(place + 1), ...items.slice(0, place + 1)]
        .find(other => other.dataset.entity.toLowerCase().startsWith(event.key.toLowerCase()));
      if (next) this.focus(next);
    }
  }

  focus(item) {
    for (const {element} of this.items.values()) element.tabIndex = -1;
    item.tabIndex = 0;
    item.focus();
  }
}
