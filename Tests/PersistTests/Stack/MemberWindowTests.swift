import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistTools

@Suite("Windows of members")
struct MemberWindowTests {
  private func store(at url: URL) throws -> any PersistentStore {
    let model = try ManagedObjectModel {
      EntityDescription("Shelf") {
        RelationshipDescription("books", toMany: "Book", inverse: "shelf", isOrdered: true)
        RelationshipDescription("labels", toMany: "Label", inverse: "shelves")
      }
      EntityDescription("Book") { RelationshipDescription("shelf", to: "Shelf", inverse: "books") }
      EntityDescription("Label") { RelationshipDescription("shelves", toMany: "Shelf", inverse: "labels") }
    }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    let labels = try (0..<4).map { _ in try context.create("Label") }
    for number in 0..<30 {
      let shelf = try context.create("Shelf")
      // None, a few, and occasionally more than a window contains.
      for _ in 0..<(number % 7 == 3 ? 25 : number % 4) {
        try shelf.related("books").insert(context.create("Book"), at: 0)
      }
      for label in labels.prefix(number % 5) { try shelf.related("labels").insert(label) }
    }
    try context.save()
    return try openStore(at: url, model: model, options: StoreOptions(isReadOnly: true))
  }

  @Test("They equal those read owner by owner, in the same order", arguments: [1, 2, 7, 26, 1000])
  func same(_ limit: Int) throws {
    try withTemporaryStore { url in
      let store = try store(at: url)
      let shelf = try store.model.entity(named: "Shelf")
      let keys = try store.rows(RowQuery(entity: shelf)).map(\.key)
      #expect(keys.count == 30)
      for name in ["books", "labels"] {
        let property = try #require(shelf.property(named: name))
        var window = MemberWindow(property, of: shelf, limit: limit)
        var total = 0
        for (index, key) in keys.enumerated() {
          let last = keys[min(keys.count - 1, index / 10 * 10 + 9)]
          let members = try window.members(of: key, upTo: last, in: store)
          // Any order is valid for an unordered relationship.
          let expected = try store.related(by: property, of: shelf, key: key)
          if name == "books" { #expect(members == expected) } else { #expect(Set(members) == Set(expected)) }
          #expect(members.count == expected.count)
          total += members.count
        }
        #expect(total > 30)
      }
      try store.close()
    }
  }

  @Test("Many owners cost one query")
  func oneQuery() throws {
    try withTemporaryStore { url in
      let store = try store(at: url)
      let shelf = try store.model.entity(named: "Shelf")
      let property = try #require(shelf.property(named: "books"))
      let keys = try store.rows(RowQuery(entity: shelf)).map(\.key)
      var window = MemberWindow(property, of: shelf)
      let before = store.statementCount
      for key in keys { _ = try window.members(of: key, upTo: keys[keys.count - 1], in: store) }
      #expect(store.statementCount == before + 1)
      try store.close()
    }
  }
}
