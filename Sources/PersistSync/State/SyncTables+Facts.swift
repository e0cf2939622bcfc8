import Foundation
import Persist

/// Reading facts from entries.
extension SyncTables {
  /// The facts in entries, in no order: with the entry of a row, all facts of the object that is alone there.
  func facts(in entries: [AttachedEntry]) throws -> [ChangeSet.Fact] {
    var others: [AttachedRange] = []
    var facts = try resolved(entries).flatMap { entry in
      var reader = ByteReader(entry.key)
      let mark = try reader.byte()
      if mark == Self.rowMark {
        // The facts of several objects are in the entries of these.
        guard let (identity, packed) = try RowEntry.alone(entry.value) else { return [ChangeSet.Fact]() }
        if PackedFacts.hasOthers(packed) {
          var range = AttachedRange(prefix: FactKey.prefix(of: identity))
          range.first.append(0)
          others.append(range)
        }
        return try self.packed(packed, of: identity)
      }
      guard mark == FactKey.objectMark else {
        return [ChangeSet.Fact(key: try FactKey(entry.key), value: entry.value)]
      }
      let identity = try FactKey.object(&reader)
      guard reader.isAtEnd else { return [ChangeSet.Fact(key: try FactKey(entry.key), value: entry.value)] }
      return try self.packed(entry.value, of: identity)
    }
    for entry in try history.attachedEntries(others, limit: .max).joined() {
      facts.append(ChangeSet.Fact(key: try FactKey(entry.key), value: entry.value))
    }
    return facts
  }

  private func packed(_ packed: Data, of identity: Identity) throws -> [ChangeSet.Fact] {
    let object = ObjectFacts(identity)
    _ = try PackedFacts.read(packed, into: object, heads)
    return object.packable
  }
}
