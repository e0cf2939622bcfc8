import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Two contexts of one store that have read the same row: the setup of most conflicts.
struct SharedRow {
  let stack: TestStack
  /// Changes and saves first.
  let first: ManagedObjectContext
  /// Doesn't know of those changes.
  let second: ManagedObjectContext
  let mine: ManagedObject
  let copy: ManagedObject

  /// Alice with salary 10, read by both.
  init(_ stack: TestStack, policy: MergePolicy = .error) throws {
    self.stack = stack
    first = stack.context()
    second = stack.context()
    second.mergePolicy = policy
    mine = try first.make("Person", ["name": "Alice", "salary": 10])
    try first.save()
    copy = try second.named("Person", "Alice")
    _ = copy["salary"]
  }

  /// The contents of the file, read by a new coordinator.
  func stored() throws -> [String] {
    let context = try stack.reopened().context()
    return try context.fetch(FetchRequest("Person", sortedBy: "name")).map { person in
      "\(person["name"] as? String ?? "-") \(person["salary"] as? Int ?? 0)"
    }
  }
}

/// Runs `body` with Alice's row, read by two contexts, of which the second has a merge policy.
func withSharedRow(_ policy: MergePolicy = .error, _ body: (SharedRow) throws -> Void) throws {
  try withStack(SampleModels.people) { try body(SharedRow($0, policy: policy)) }
}

extension MergePolicy {
  static let settling: [MergePolicy] = [
    .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]
}
