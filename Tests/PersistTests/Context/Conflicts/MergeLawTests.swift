import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The meaning of the merge policies, without contexts: rows, copies of them, and rules.
private struct PlainStore {
  struct Row: Equatable {
    var values: [String: Int]
    var version: Int64
  }

  /// A context's copy of a row.
  struct Copy {
    var read: Row
    var changes: [String: Int] = [:]
    var isDeleted = false

    var values: [String: Int] { read.values.merging(changes) { $1 } }
    /// The differences from the row as it was read.
    var differences: [String: Int] { changes.filter { read.values[$0.key] != $0.value } }
    var isChanged: Bool { isDeleted || !differences.isEmpty }
  }

  var rows: [Int64: Row] = [:]

  /// - Returns: False if the policy refuses the save, which then changes nothing.
  mutating func save(_ copies: inout [Int64: Copy], by policy: MergePolicy.MergeType) -> Bool {
    let changed = copies.filter { $0.value.isChanged }
    if policy == .error, changed.contains(where: { rows[$0.key]?.version != $0.value.read.version }) { return false }
    for (key, copy) in changed {
      rows[key] = outcome(of: copy, over: rows[key], by: policy)
      copies[key] = rows[key].map { Copy(read: $0) }
    }
    for key in copies.keys { copies[key]?.changes = [:] }
    return true
  }

  private func outcome(of copy: Copy, over row: Row?, by policy: MergePolicy.MergeType) -> Row? {
    let objectWins = policy == .mergeByPropertyObjectTrump || policy == .overwrite
    guard let row else {
      if copy.isDeleted || !objectWins { return nil }
      return Row(values: copy.values, version: copy.read.version + 1 << 20)
    }
    let isConflict = row.version != copy.read.version
    if copy.isDeleted { return isConflict && !objectWins ? row : nil }
    var values = row.values
    switch policy {
    case .overwrite where isConflict: values = copy.values
    case .rollback where isConflict: break
    case .mergeByPropertyStoreTrump where isConflict:
      for (name, value) in copy.differences where row.values[name] == copy.read.values[name] { values[name] = value }
    default: values.merge(copy.differences) { $1 }
    }
    return values == row.values ? row : Row(values: values, version: row.version + 1)
  }
}

@Suite("The law of merge policies")
struct MergeLawTests {
  private static let model = ModelDescription(entities: [
    EntityDescription("Item", attributes: ["a", "b", "c"].map { AttributeDescription($0, .int32) })
  ])

  @Test("Whatever contexts change and save, the file follows the policies", .law("merges", short: 40, long: 2000))
  func law() { forEachSeed(tryPolicies) }

  private func tryPolicies(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try withStack(Self.model) { stack in
      var plain = PlainStore()
      let contexts = (0..<3).map { _ in stack.context() }
      var objects: [[Int64: ManagedObject]] = []
      var copies: [[Int64: PlainStore.Copy]] = []
      for _ in 0..<5 { try contexts[0].make("Item", ["a": 0, "b": 0, "c": 0]) }
      try contexts[0].save()
      for key in 1...5 as ClosedRange<Int64> {
        plain.rows[key] = PlainStore.Row(values: ["a": 0, "b": 0, "c": 0], version: 1)
      }
      for context in contexts {
        let found = try context.fetch(FetchRequest("Item"))
        for object in found { _ = object["a"] }
        objects.append(Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0) }))
        copies.append(plain.rows.mapValues { PlainStore.Copy(read: $0) })
      }

      for _ in 0..<60 {
        let who = Int.random(in: 0..<contexts.count, using: &random)
        let context = contexts[who]
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6:
          guard let key = copies[who].keys.sorted().randomElement(using: &random),
            copies[who][key]?.isDeleted == false, let object = objects[who][key]
          else { continue }
          let name = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
          let value = Int.random(in: 0..<4, using: &random)
          object[name] = value
          copies[who][key]?.changes[name] = value
        case 6 where Int.random(in: 0..<3, using: &random) == 0:
          guard let key = copies[who].keys.sorted().randomElement(using: &random), let object = objects[who][key]
          else { continue }
          context.delete(object)
          copies[who][key]?.isDeleted = true
        default:
          let policies = [MergePolicy.error] + MergePolicy.settling
          context.mergePolicy = policies[Int.random(in: 0..<policies.count, using: &random)]
          let error = persistError { try context.save() }
          let isSaved = plain.save(&copies[who], by: context.mergePolicy.mergeType)
          #expect((error == nil) == isSaved, "\(String(describing: error))")
          if !isSaved {
            context.rollback()
            context.refreshAllObjects()
            copies[who] = plain.rows.filter { copies[who][$0.key] != nil }.mapValues { PlainStore.Copy(read: $0) }
            for key in copies[who].keys { _ = objects[who][key]?["a"] }
          }
        }
        for (key, copy) in copies[who] where !copy.isDeleted {
          let object = objects[who][key]
          let values = ["a", "b", "c"].reduce(into: [:]) { $0[$1] = object?[$1] as? Int }
          try #require(values == copy.values, "object \(key) of context \(who)")
        }
      }

      let stored = try stack.reopened().context().fetch(FetchRequest("Item"))
      let rows = stored.reduce(into: [:]) { rows, object in
        rows[object.key] = ["a", "b", "c"].reduce(into: [:]) { $0[$1] = object[$1] as? Int }
      }
      #expect(rows == plain.rows.mapValues(\.values))
    }
  }
}
