import {store} from './model.js';
import {get} from './api.js';
import {h, fill, failure, announce} from './dom.js';
import {Bar, Sidebar} from './sidebar.js';
import {RowsView} from './rows.js';
import {ObjectView} from './object.js';
import {DiagramView} from './diagram.js';
import {MigrationView} from './migration.js';
import {ChangesView} from './changes.js';
import {editing, EditsView} from './editing.js';

const main = document.getElementById('main');
let view = null;
let sidebar = null;

/** The views by the first part of the address after `#/`. */
const views = {
  rows: RowsView, object: ObjectView, model: DiagramView, migration: MigrationView, changes: ChangesView, edits: EditsView,
};

function route() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').map(decodeURIComponent);
  return {name: parts[0], parts: parts.slice(1), query: new URLSearchParams(query ?? '')};
}

function show() {
  const place = route();
  if (!views[place.name]) return location.replace(home());
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
  sidebar.select(place);
  if (view && view.constructor === views[place.name] && view.update?.(place)) return;
  const hadFocus = main.contains(document.activeElement);
  view?.close?.();
  fill(main);
  view = new views[place.name](main, place);
  document.title = `${view.title ?? place.parts[0] ?? 'Studio'} – ${store.overview.name}`;
  // What had the focus is gone: the next step by keyboard begins at the new view.
  if (hadFocus && [document.body, main].includes(document.activeElement) && !view.focus?.()) main.focus({preventScroll: true});
}

/** The entity that was shown last, or the one with the most objects. */
function home() {
  const last = store.setting('lastEntity', null);
  const entity = store.entity(last) ?? [...store.overview.entities]
    .sort((a, b) => (store.counts?.[b.name] ?? 0) - (store.counts?.[a.name] ?? 0))[0];
  return entity ? `#/rows/${encodeURIComponent(entity.name)}` : '#/model';
}

// MARK: Changes of the store

let mark = null;
/** Asks whether the store's files, or the unsaved changes, have changed. Views decide what to do about it. */
async function watch() {
  try {
    const changes = await get('changes');
    if (mark !== null && changes.mark !== mark) {
      document.dispatchEvent(new CustomEvent('storechange'));
      store.loadCounts().then(() => sidebar.showCounts()).catch(() => {});
    }
    mark = changes.mark;
    await editing.follow(changes.edits);
    document.body.classList.remove('ended');
  } catch (error) {
    if (error.status === 0 && !document.body.classList.contains('ended')) {
      document.body.classList.add('ended');
      announce('The studio has ended. Start it again.');
    }
  }
}

// MARK: Keyboard

function keys(event) {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'z' && !isTyping && store.overview.isWritable) {
    event.preventDefault();
    const action = event.shiftKey ? 'redo' : 'undo';
    if (event.shiftKey ? editing.canRedo : editing.canUndo) {
      editing.apply({action}).then(() => announce(event.shiftKey ? 'Redone.' : 'Undone.'), error => announce(error.message));
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/' && !isTyping) {
    const line = document.querySelector('.query-input');
    if (line) { event.preventDefault(); line.focus(); }
  } else if (event.key === '?' && !isTyping) {
    help();
  }
}

function help() {
  const rows = [
    ['/', 'Go to the request line'], ['Arrow keys, Page Up, Page Down', 'Move in the rows'],
    ['Home, End, Ctrl+Home, Ctrl+End', 'Go to the first or last column, or row'],
    ['Enter', 'Open the object; in a column of links, the object that it names'],
    ['S', 'Sort by the column'], ['+, −', 'Widen or narrow the column; enlarge or reduce the diagram'],
    ['0, 1', 'Show the whole diagram, or its natural size'], ['Alt+←, Alt+→', 'Back and forward'],
    ['Ctrl+Space', 'Complete the word in the request line'],
    ...(store.overview.isWritable ? [['Ctrl+Z, Ctrl+Shift+Z', 'Undo or redo the last unsaved change']] : []),
    ['?', 'This list'],
  ];
  const dialog = h('dialog', {class: 'help', 'aria-labelledby': 'help-title'},
    h('h2', {id: 'help-title'}, 'Keys'),
    h('dl', {}, rows.map(([key, what]) => [h('dt', {}, key), h('dd', {}, what)])),
    h('form', {method: 'dialog'}, h('button', {class: 'button', type: 'button', click: () => dialog.close()}, 'Close')));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

async function start() {
  try {
    // The mark is older than everything that is shown: a change after that is noticed.
    await Promise.all([store.load(), watch()]);
  } catch (error) {
    return fill(main, failure(error));
  }
  const side = document.getElementById('sidebar');
  sidebar = new Sidebar(side);
  new Bar(document.getElementById('bar'), side, main);
  const isCounted = store.loadCounts().then(() => sidebar.showCounts()).catch(error => announce(error.message));
  if (!views[route().name]) await Promise.race([isCounted, new Promise(resolve => setTimeout(resolve, 400))]);
  if (store.overview.isWritable) await editing.load();
  addEventListener('hashchange', show);
  // Its address isn't one of the page's places.
  document.querySelector('.skip').addEventListener('click', event => { event.preventDefault(); main.focus(); });
  document.addEventListener('keydown', keys);
  show();
  setInterval(() => { if (!document.hidden) watch(); }, 1500);
}

start();
