import {h, fill, button, table, failure, grouped, bytes, duration, plural, announce, Progress} from './dom.js';
import {get, post} from './api.js';
import {store} from './model.js';

/** The store's version, the way to another one, and a trial of it on a copy. */
export class MigrationView {
  constructor(main) {
    this.title = 'Migration';
    this.main = main;
    this.plan = h('div', {class: 'plan'});
    this.trial = h('div', {class: 'trial'});
    this.start();
  }

  close() { this.isClosed = true; clearTimeout(this.timer); }

  async start() {
    try {
      const versions = await get('versions');
      if (!this.isClosed) this.show(versions);
    } catch (error) { if (!this.isClosed) fill(this.main, failure(error)); }
  }

  show({versions, version, modelFrom, log}) {
    const origins = {registry: 'one of the given models', fingerprint: 'one of the given models', embedded: 'the store’s own model', columns: 'the model that its tables fit'};
    const stores = versions.find(other => other.isStores);
    const hasFamilies = new Set(versions.map(other => other.family)).size > 1;
    const target = versions.find(other => other.isCurrent && other.family === stores?.family) ?? versions.find(other => other.isCurrent) ?? versions[0];
    fill(this.main, h('div', {class: 'page'},
      h('header', {class: 'view-head'}, h('h2', {}, 'Migration')),
      h('p', {}, 'The store has ', h('strong', {}, version ?? 'a version without a name'), `, ${origins[modelFrom] ?? modelFrom}.`),
      versions.length === 0
        ? h('p', {class: 'muted'}, 'No models were given. Start the studio with --models and the folder of the models to see where the store can go.')
        : h('section', {'aria-label': 'Versions'},
          h('ol', {class: 'versions', role: 'radiogroup', 'aria-label': 'The version to migrate to'}, versions.map(other => h('li', {role: 'presentation', class: other.isStores ? 'stores' : null},
            h('label', {}, h('input', {type: 'radio', name: 'version', value: other.number, checked: other === target, change: () => this.showPlan(other)}),
              h('span', {class: 'version-name'}, other.name), hasFamilies && h('span', {class: 'muted'}, other.family),
              other.isStores && h('span', {class: 'badge'}, 'This store'), other.isCurrent && h('span', {class: 'badge quiet'}, 'Current'))))),
          this.plan, this.trial),
      h('section', {'aria-label': 'Log'}, h('h3', {}, 'Log'),
        log.length === 0 ? h('p', {class: 'muted'}, 'The store was never migrated by Persist.')
          : table('Migrations of this store', {}, h('thead', {}, h('tr', {}, heads('When', 'From', 'To', 'Method', '#Rows', '#Time'))),
            h('tbody', {}, log.map(entry => h('tr', {}, h('td', {}, entry.date.replace('T', ' ').replace('Z', '')), h('td', {}, entry.from), h('td', {}, entry.to),
              h('td', {}, entry.way), h('td', {class: 'numeric'}, grouped(entry.rows)), h('td', {class: 'numeric'}, duration(entry.seconds)))))))));
    if (target) this.showPlan(target, {isFirst: true});
  }

  async showPlan(version, {isFirst = false} = {}) {
    this.version = version;
    fill(this.plan, h('p', {class: 'muted'}, 'Planning …'));
    fill(this.trial);
    let plan;
    try { plan = await get('plan', {to: version.number}); } catch (error) {
      if (this.version === version) fill(this.plan, failure(error));
      return;
    }
    if (this.version !== version || this.isClosed) return;
    const isDone = plan.way === 'none' && plan.steps.length === 0;
    const ways = {none: 'Nothing to do', inPlace: 'In place, in one transaction', copy: 'Into a copy that then replaces the store', impossible: 'Impossible'};
    fill(this.plan,
      h('h3', {}, `From ${plan.from} to ${plan.to}`),
      h('dl', {class: 'facts'},
        fact('Method', ways[plan.way] ?? plan.way), plan.rows !== undefined && fact('Rows', grouped(plan.rows)),
        plan.bytes !== undefined && fact('Size', bytes(plan.bytes)), plan.extraBytes !== undefined && fact('Extra disk', bytes(plan.extraBytes)),
        fact('Losses', plan.lost.length ? String(plan.lost.length) : 'None')),
      plan.blockers.map(blocker => h('div', {class: 'failure'}, h('p', {class: 'failure-message'}, place(blocker), blocker.what), blocker.fix && h('p', {class: 'failure-fix'}, blocker.fix))),
      losses('Losses', 'losses', 'Data that is lost', plan.lost),
      losses('Parked', 'losses parked', 'Data without a place, parked in the store until a model has one', plan.kept),
      losses('Restored', 'losses parked', 'Parked data that comes back', plan.restored),
      (plan.hops?.length ? plan.hops.map(hop => [hop, `${hop.from} → ${hop.to}`]) : [[plan, null]]).map(([hop, title]) => steps(hop, title, plan.kept)),
      plan.notes?.map(note => h('p', {class: 'muted'}, note)));
    const lost = plan.lost.length ? plural(plan.lost.length, 'loss', 'losses') : 'no losses';
    if (!isFirst) announce(`From ${plan.from} to ${plan.to}: ${ways[plan.way] ?? plan.way}, ${lost}`);
    if (isDone || !plan.isPossible) return;
    const allows = h('input', {type: 'checkbox', id: 'allows-loss'});
    fill(this.trial, h('h3', {}, 'Try it'), h('p', {class: 'muted'}, 'The store is copied to a temporary file, and the copy is migrated. The store itself doesn’t change.'),
      plan.losses.length > 0 && h('p', {class: 'accept'}, allows,
        h('label', {for: 'allows-loss'}, plan.lost.length ? 'Accept the losses' : 'Park what has no place')),
      this.runButton = button('Run on a copy', 'migration', () => this.run(allows.checked)), this.progress = h('div', {class: 'trial-result'}));
    this.setRunning(this.isRunning ?? false);
  }

  async run(allowsLoss) {
    if (this.isRunning) return;
    this.setRunning(true);
    fill(this.progress);
    try {
      await post('trial/start', {to: this.version.number, allowsLoss});
      this.poll();
    } catch (error) {
      this.setRunning(false);
      fill(this.progress, failure(error));
    }
  }

  /** A disabled button would lose the focus. */
  setRunning(isRunning) {
    this.isRunning = isRunning;
    this.runButton.setAttribute('aria-disabled', String(isRunning));
  }

  async poll() {
    if (this.isClosed) return;
    const trial = await get('trial').catch(error => ({state: 'failed', message: error.message, fix: error.fix}));
    if (this.isClosed) return;
    const isRunning = ['copying', 'migrating', 'comparing'].includes(trial.state);
    if (isRunning) {
      this.showProgress(trial);
      this.timer = setTimeout(() => this.poll(), 200);
      return;
    }
    // The button that stopped the trial is gone.
    if (this.progress.contains(document.activeElement)) this.runButton.focus();
    this.bar = null;
    this.setRunning(false);
    fill(this.progress, this.trialContent(trial));
    if (trial.state === 'done') announce(`The copy has ${trial.to}. ${trial.comparison.isSame ? 'All kept values are the same.' : 'Not all kept values are the same.'}`);
    else if (trial.state !== 'failed') announce('The trial was stopped.');
  }

  showProgress(trial) {
    // Another version may have been chosen in the meantime.
    if (!this.bar?.element.isConnected) {
      this.bar = new Progress(() => post('trial/stop').catch(error => announce(error.message)));
      fill(this.progress, this.bar.element);
    }
    switch (trial.state) {
      case 'copying': return this.bar.show('Copying', null, 'Copying the store', {canStop: false});
      case 'migrating': return this.bar.show('Migrating', trial.fraction,
        `${Math.floor(trial.fraction * 100)} % ${trial.current}${trial.secondsLeft !== null ? `, ${plural(trial.secondsLeft, 'second')} left` : ''}`);
      default: return this.bar.show('Comparing', trial.objects / Math.max(trial.total, 1), `Comparing: ${grouped(trial.objects)} of ${plural(trial.total, 'object')}`);
    }
  }

  trialContent(trial) {
    switch (trial.state) {
      case 'failed': return failure(trial);
      case 'done': {
        const changed = trial.counts.filter(count => count.before !== count.after);
        const name = count => count.newEntity && count.newEntity !== count.entity ? `${count.entity} → ${count.newEntity}` : count.entity;
        return [h('p', {class: 'success'}, `The copy has ${trial.to}: ${plural(trial.rows ?? 0, 'row')} in ${duration(trial.seconds)}.`),
          h('p', {class: 'muted'}, 'The copy: ', h('code', {}, trial.path)),
          comparison(trial),
          table('Numbers of objects', {}, h('caption', {}, changed.length ? 'Objects before and after' : 'Every entity has as many objects as before'),
            h('thead', {}, h('tr', {}, heads('Entity', '#Before', '#After'))),
            h('tbody', {}, trial.counts.map(count => h('tr', {class: count.before !== count.after ? 'changed' : null}, h('th', {scope: 'row'}, name(count)),
              h('td', {class: 'numeric'}, count.before === null ? '–' : grouped(count.before)), h('td', {class: 'numeric'}, count.after === null ? '–' : grouped(count.after))))))];
      }
      default: return null;
    }
  }
}

/** What became of every value that the migration keeps. */
function comparison(trial) {
  const {objects, values, isSame, isComputed, missing, differences} = trial.comparison;
  const what = `${plural(values, 'kept value')} of ${plural(objects, 'object')}`;
  if (isSame) return h('p', {class: 'success'}, `Compared ${what}: all are the same in the copy.`);
  return [h('p', {class: isComputed || trial.hasChanged ? 'advice' : 'failure'}, `Compared ${what}: not all are the same in the copy.`),
    isComputed && h('p', {class: 'muted'}, 'A mapping model or code of the application computes values, so that differences can be intended.'),
    trial.hasChanged && h('p', {class: 'muted'}, 'The store was changed after it had been copied, which shows as differences too.'),
    missing.length > 0 && table('Missing objects', {}, h('caption', {}, 'Objects that the copy lacks'),
      h('thead', {}, h('tr', {}, heads('Entity', '#Objects'))),
      h('tbody', {}, missing.map(part => h('tr', {class: 'changed'}, h('th', {scope: 'row'}, part.entity), h('td', {class: 'numeric'}, grouped(part.count)))))),
    differences.length > 0 && table('Differences', {class: 'comparison'}, h('caption', {}, 'Values that differ'),
      h('thead', {}, h('tr', {}, heads('Property', '#Same', '#Different', 'Examples'))),
      h('tbody', {}, differences.map(part => h('tr', {class: 'changed'},
        h('th', {scope: 'row'}, `${part.entity}.${part.property}`, (part.newEntity !== part.entity || part.newProperty !== part.property) && ` → ${part.newEntity}.${part.newProperty}`),
        h('td', {class: 'numeric'}, grouped(part.equal)), h('td', {class: 'numeric'}, grouped(part.different)),
        h('td', {}, h('ul', {}, part.examples.map(example => h('li', {}, h('a', {href: `#/object/${encodeURIComponent(part.entity)}/${example.key}`}, example.key),
          ': ', h('span', {class: 'before'}, example.before ?? 'null'), ' → ', h('span', {class: 'after'}, example.after ?? 'null')))))))))];
}

/** The heads of a table; those of numbers begin with a hash. */
const heads = (...names) => names.map(name => h('th', {scope: 'col', class: name[0] === '#' ? 'numeric' : null}, name.replace('#', '')));
const fact = (name, value) => h('div', {}, h('dt', {}, name), h('dd', {}, value));
/** A table of what has no place in a model, or has one again. */
const losses = (name, kind, caption, parts) => parts?.length > 0 && table(name, {class: kind}, h('caption', {}, caption),
  h('thead', {}, h('tr', {}, heads('Where', 'What', '#Rows'))),
  h('tbody', {}, parts.map(part => h('tr', {}, h('th', {scope: 'row'}, [part.entity, part.property].filter(Boolean).join('.')), h('td', {}, part.what), h('td', {class: 'numeric'}, grouped(part.rows))))));
const place = part => [part.entity, part.property].filter(Boolean).join('.') + (part.entity ? ': ' : '');
const words = name => name[0].toUpperCase() + name.slice(1).replace(/([A-Z])/g, letter => ' ' + letter.toLowerCase());

/** What a step does to data without a place. */
function loss(step, kept) {
  if (!step.losesData) return null;
  const isParked = kept.some(part => part.entity === step.entity && (part.property ?? null) === (step.property ?? null));
  return isParked ? h('span', {class: 'badge quiet'}, 'Parks data') : h('span', {class: 'badge danger'}, 'Loses data');
}

function steps(plan, title, kept) {
  if (!plan.steps.length) return null;
  return [title && h('h4', {}, title), h('ol', {class: 'steps'}, plan.steps.map(step => h('li', {},
    h('details', {}, h('summary', {},
      h('span', {class: 'step-name'}, words(step.operation)), ' ',
      h('code', {}, [step.entity, step.property].filter(Boolean).join('.') + (step.newName ? ` → ${step.newName}` : '')),
      step.detail && h('span', {class: 'muted'}, ` ${step.detail}`), loss(step, kept)),
      step.sql.length ? step.sql.map(line => h('pre', {class: 'sql'}, line)) : h('p', {class: 'muted'}, 'No SQL: only the model changes, or rows are rewritten as they are copied.'),
      (step.deferred ?? []).map(line => h('pre', {class: 'sql'}, line))))))];
}
