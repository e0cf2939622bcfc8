import Foundation
import Persist

/// The entries of the objects of a ``PlainPass``.
extension PlainRows {
  mutating func finishEntries(_ new: [Int]) throws {
    var (writer, rowKey) = (ByteWriter(), ByteWriter())
    let written = pass.objects.indices.filter { pass.objects[$0].isWritten }
    entries.reserveCapacity(2 * written.count, bytes: pass.sources.reduce(0) { $0 + 2 * $1.count })
    for place in written {
      writer.removeAll()
      if pass.objects[place].isNew, let row = pass.objects[place].packed.row {
        PackedFacts.beginLink(in: &writer)
        SyncTables.writeKey(of: row, to: &writer)
      } else if pass.objects[place].rowKey == nil {
        pass.objects[place].packed.write(to: &writer, pass.sources)
      } else {
        continue
      }
      entries.append(pass.objects[place].key, writer.bytes)
    }
    entries.sort()
    addReferrers(written)
    let rows = entries.entries.count
    for place in written {
      rowKey.removeAll()
      if pass.objects[place].isNew, let row = pass.objects[place].packed.row {
        SyncTables.writeKey(of: row, to: &rowKey)
      } else if let key = pass.objects[place].rowKey {
        rowKey.raw(key)
      } else {
        continue
      }
      writer.removeAll()
      RowEntry.begin(pass.objects[place].identity, in: &writer)
      pass.objects[place].packed.write(to: &writer, pass.sources)
      entries.append(rowKey.bytes[...], writer.bytes)
    }
    entries.sort(from: rows)
    let keys = entries.entries.count
    for place in new {
      for key in pass.objects[place].packed.uniqueKeys {
        entries.append(SyncTables.key(unique: key, pass.objects[place].identity), Data())
      }
    }
    entries.sort(from: keys)
    for place in new { try addLargeValues(of: place) }
  }

  /// Adds the entries that lead from objects to those that refer to them, and whose rows don't show it.
  private mutating func addReferrers(_ written: [Int]) {
    var all = waiting
    // Rows show none of these: the model has no place for the object, or it has been deleted.
    for place in written where !pass.objects[place].isNew {
      let object = pass.objects[place]
      for index in object.isKnown ? object.changed : Array(object.packed.facts.indices) {
        let fact = object.packed.facts[index]
        let content = pass.sources[fact.source][fact.content]
        guard isReference(fact), let (target, _) = PortableValue.reference(Data(content)) else { continue }
        all.append((place, target))
      }
    }
    let first = entries.entries.count
    var keys: Set<Data> = []
    for (place, identity) in all {
      let key = SyncTables.key("Q", identity.bytes, pass.objects[place].identity.bytes)
      if keys.insert(key).inserted { entries.append(key, Data()) }
    }
    entries.sort(from: first)
  }

  /// Records the parts of large values that a new object names.
  private func addLargeValues(of place: Int) throws {
    for fact in pass.objects[place].packed.facts
    where PortableValue.isLarge(pass.sources[fact.source], fact.content) {
      guard let large = PortableValue.large(Data(pass.sources[fact.source][fact.content])),
        case .value(let property) = try step.tables.heads.head(fact.head)
      else { continue }
      let key = FactKey.value(pass.objects[place].identity, property)
      step.tables.setParts(namedBy: key.bytes, from: [], to: large.digests)
    }
  }
}
