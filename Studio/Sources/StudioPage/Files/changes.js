import {h, fill, failure, grouped, plural} from './dom.js';
import {get} from './api.js';
import {store} from './model.js';

const shownTransactions = 400;
/** The author of transactions that apply the changes of other replicas: `Replica.author`. */
const synchronization = 'com.persist.sync';

/** Values by property, as text. */
const values = list => list.map(({property, text}) => `${property} ${text ?? 'null'}`).join(', ').slice(0, 300);

/** How to switch the history on. */
const advice = () => h('details', {class: 'advice-box', open: true}, h('summary', {}, 'How to record who changes what'),
  h('p', {}, 'Open the store once in your application with the option ', h('code', {}, 'tracksHistory'), '. From then on, the history records every save of every program:'),
  h('pre', {class: 'sql', role: 'group', tabindex: '0', 'aria-label': 'Swift code'}, 'try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))'),
  h('p', {}, 'With ', h('code', {}, 'StoreOptions(historyKeeps: .oldValues)'), ', it also keeps the values before each change. Applications of Core Data set ',
    h('code', {}, 'NSPersistentHistoryTrackingKey'), ' of the store’s description to true.'));

/** Who changed what: from the store's history, or from what differs between two looks at it. */
export class ChangesView {
  constructor(main) {
    this.title = 'Changes';
    this.last = 0;
    this.note = h('p', {class: 'muted'});
    this.timeline = h('div', {class: 'timeline', 'aria-hidden': 'true'});
    this.list = h('ol', {class: 'transactions', 'aria-label': 'Changes, the latest first'});
    this.transactions = [];
    fill(main, h('div', {class: 'page'}, h('header', {class: 'view-head'}, h('h2', {}, 'Changes'), h('span', {class: 'live'}, 'Live')), this.note, this.timeline, this.list));
    this.counts = store.counts;
    this.changed = () => this.load();
    document.addEventListener('storechange', this.changed);
    this.load();
  }

  close() {
    this.isClosed = true;
    document.removeEventListener('storechange', this.changed);
  }

  async load() {
    try {
      const changes = await get('changes', {after: this.last});
      if (this.isClosed) return;
      if (!changes.hasHistory) return this.watch();
      this.note.textContent = changes.last === 0 ? 'The store’s history is empty.' : 'From the store’s history.';
      this.last = changes.last;
      for (const entry of changes.transactions) this.add(entry.transaction, entry.changeCount);
      // The changes before are read when they are asked for.
      this.list.setAttribute('aria-live', 'polite');
      this.drawTimeline();
    } catch (error) {
      fill(this.note, failure(error));
    }
  }

  /** Without a history, the numbers of objects tell what happened. */
  async watch() {
    if (!this.hasAdvice) fill(this.note, 'This store has no history. From now on, this page shows which entities have more or fewer objects than before.');
    if (!this.hasAdvice) this.note.after(advice());
    this.hasAdvice = true;
    const before = this.counts;
    const after = await store.loadCounts();
    this.counts = after;
    if (!before || this.isClosed) return;
    const differences = Object.keys(after).filter(name => after[name] !== before[name]);
    if (!this.hasStarted && !differences.length) { this.hasStarted = true; return; }
    this.hasStarted = true;
    const lines = differences.map(name => {
      const difference = after[name] - before[name];
      return h('li', {class: difference > 0 ? 'insert' : 'delete'}, `${difference > 0 ? '+' : '−'}${grouped(Math.abs(difference))} ${name}`);
    });
    this.list.prepend(h('li', {class: 'transaction'}, h('div', {class: 'transaction-head'}, h('time', {}, new Date().toLocaleTimeString())),
      h('ul', {}, lines.length ? lines : h('li', {class: 'update'}, 'Values changed'))));
    while (this.list.children.length > shownTransactions) this.list.lastChild.remove();
  }

  add(transaction, count) {
    const date = new Date((transaction.timestamp + 978307200) * 1000);
    this.transactions.push({date, count});
    const by = transaction.author === synchronization ? ['Synchronized', transaction.contextName].filter(Boolean).join(' ')
      : [transaction.author, transaction.contextName, transaction.processID, transaction.bundleID].filter(Boolean).join(', ');
    this.list.prepend(h('li', {class: 'transaction'},
      h('div', {class: 'transaction-head'}, h('span', {class: 'number'}, `#${transaction.number}`), h('time', {datetime: date.toISOString()}, date.toLocaleString()),
        h('span', {}, by || 'unknown'), h('span', {class: 'muted'}, plural(count, 'change'))),
      h('ul', {}, transaction.changes.slice(0, 20).map(change => this.change(change, transaction.author === synchronization)),
        count > 20 && h('li', {class: 'muted'}, `… ${grouped(count - 20)} more`))));
    while (this.list.children.length > shownTransactions) this.list.lastChild.remove();
  }

  change(change, isForeign) {
    const words = {insert: '+', update: '~', delete: '−'};
    const name = `${change.entity} ${change.key}`;
    return h('li', {class: change.type}, h('span', {class: 'mark', role: 'img', 'aria-label': change.type}, words[change.type]),
      h('a', {href: `#/object/${encodeURIComponent(change.entity)}/${change.key}`}, name),
      change.updatedProperties && h('span', {class: 'muted'}, change.updatedProperties.join(', ')),
      change.tombstone.length > 0 && h('span', {class: 'muted'}, 'It had ' + values(change.tombstone)),
      change.type === 'update' && change.oldValues.length > 0 && h('span', {class: 'muted'}, (isForeign ? 'Overruled ' : 'It had ') + values(change.oldValues)));
  }

  /** A bar for each of sixty equal parts of the time that the list covers. */
  drawTimeline() {
    if (this.transactions.length < 2) return fill(this.timeline);
    const times = this.transactions.map(transaction => transaction.date.getTime());
    const [first, last] = [Math.min(...times), Math.max(...times)];
    const span = Math.max(last - first, 1);
    const bars = new Array(60).fill(0);
    for (const {date, count} of this.transactions) bars[Math.min(59, Math.floor((date - first) / span * 60))] += count;
    const most = Math.max(...bars);
    fill(this.timeline, bars.map(count => {
      const bar = h('span', {});
      bar.style.height = `${count ? Math.max(4, count / most * 100) : 0}%`;
      return bar;
    }));
  }
}
