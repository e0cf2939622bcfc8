import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Single members of large relationships")
struct LargeMembershipTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Author", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("books", toMany: "Book", inverse: "author"),
        RelationshipDescription("favourites", toMany: "Book", inverse: "admirers"),
        RelationshipDescription("drafts", toMany: "Book", inverse: nil),
      ]),
    EntityDescription(
      "Book", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("author", to: "Author", inverse: "books"),
        RelationshipDescription("admirers", toMany: "Author", inverse: "favourites"),
      ]),
  ])

  /// Asks for, removes and adds members of an author with so many, and saves each change.
  ///
  /// - Returns: The number of statements.
  private func change(_ name: String, ofCount count: Int, visiting visits: Bool) throws -> Int {
    var statements = 0
    try withStack(Self.model) { stack in
      let setUp = stack.context()
      let author = try setUp.make("Author")
      for number in 0..<count {
        try author.related(name).insert(setUp.make("Book", ["name": "\(number)"]))
      }
      try setUp.save()

      let context = stack.context()
      let owner = try #require(try context.fetch(FetchRequest("Author")).first)
      let books = try context.fetch(FetchRequest("Book", sortedBy: "name")).sorted {
        ($0.objectID.primaryKey ?? 0) < ($1.objectID.primaryKey ?? 0)
      }
      let related = try owner.related(name)
      if visits { #expect(Set(related.map(\.objectID)) == Set(books.map(\.objectID))) } else { _ = related.count }
      let slot = try #require(owner.entity.property(named: name)).slot
      let members = owner.members(of: try #require(owner.layout.relationshipsBySlot[slot]))
      let before = stack.store.store.statementCount
      var expected = Set((0..<count).map { "\($0)" })
      for step in 0..<8 {
        let book = books[step]
        #expect(related.contains(book))
        related.remove(book)
        #expect(!related.contains(book) && related.count == count - 1)
        try context.save()
        #expect(!related.contains(book) && related.count == count - 1)
        let new = try context.make("Book", ["name": "new \(step)"])
        related.insert(new)
        #expect(related.contains(new) && related.count == count)
        try context.save()
        #expect(related.contains(new) && related.count == count)
        expected.remove("\(step)")
        expected.insert("new \(step)")
      }
      statements = stack.store.store.statementCount - before
      #expect(!members.isHashed)
      #expect(Set(related.map { $0["name"] as? String }) == Set(expected.map(Optional.some)))

      let reopened = try stack.reopened().context()
      let stored = try #require(try reopened.fetch(FetchRequest("Author")).first).related(name)
      #expect(Set(stored.map { $0["name"] as? String }) == Set(expected.map(Optional.some)))
    }
    return statements
  }

  @Test(
    "Asking for a member, removing one and adding one create no set of all, and run as many statements for any number",
    arguments: ["books", "favourites", "drafts"], [false, true])
  func single(_ name: String, visiting visits: Bool) throws {
    let few = try change(name, ofCount: 10, visiting: visits)
    let many = try change(name, ofCount: 1000, visiting: visits)
    #expect(many == few)
  }
}
