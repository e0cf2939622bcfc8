@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A node with a stored property that isn't in any store, and a count of all live nodes.
final class HeldNode: ManagedObject {
  /// State that a program keeps beside the row: lost with the object, and thus evidence of its lifetime.
  var tag = 0
  private let life = Life()

  private final class Life {
    init() { HeldNode.living.withLock { $0 += 1 } }
    deinit { HeldNode.living.withLock { $0 -= 1 } }
  }

  /// The number of live nodes in all contexts of the process: tests that use it run one after another.
  static let living = LockProtected(0)

  var next: HeldNode? {
    get { self["next"] as? HeldNode }
    set { self["next"] = newValue }
  }
  func members(_ name: String) throws -> [HeldNode] { try related(name).compactMap { $0 as? HeldNode } }

  /// Node {number, next, previous ->> Node, friends ->> Node}.
  static let model = ModelDescription(entities: [
    EntityDescription(
      "Node", attributes: [AttributeDescription("number", .int64)],
      relationships: [
        RelationshipDescription("next", to: "Node", inverse: "previous"),
        RelationshipDescription("previous", toMany: "Node", inverse: "next"),
        RelationshipDescription("friends", toMany: "Node", inverse: "friends"),
      ])
  ])

  static let classes: [String: ManagedObject.Type] = ["Node": HeldNode.self]
}

extension ManagedObjectContext {
  func makeNode(_ number: Int, next: HeldNode? = nil) throws -> HeldNode {
    let node = try make("Node", ["number": number])
    guard let node = node as? HeldNode else { throw PersistenceError(.unknownEntity, "No class.") }
    if let next { node.next = next }
    return node
  }

  func nodes() throws -> [HeldNode] {
    try fetch(FetchRequest("Node", sortedBy: "number")).compactMap { $0 as? HeldNode }
  }
}
