import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

private final class Rack: ManagedObject {
  @Attribute var label = ""
  @Relationship(deleteRule: .cascade) var books: RelationshipSet<Volume>
  @Derived("books.@count") var bookCount: Int
  @Derived("books.pages.@sum") var pageSum: Int
  @Derived("canonical:(label)") var searchLabel: String?
}

private final class Volume: ManagedObject {
  @Attribute var pages = 0
  @Relationship(inverse: \Rack.books) var rack: Rack?
  @Derived("rack.label") var rackLabel: String?
}

@Suite("Derived attributes of classes")
struct DerivedTests {
  private func withRack(_ body: (ManagedObjectContext, Rack) throws -> Void) throws {
    try withTemporaryStore { store in
      do {
        let context = try makeContext(Rack.self, Volume.self, at: store)
        let rack = Rack(context: context)
        rack.label = "Poésie"
        for pages in [10, 32] {
          let book = Volume(context: context)
          (book.pages, book.rack) = (pages, rack)
        }
        #expect((rack.bookCount, rack.searchLabel) == (0, nil))
        try context.save()
      }
      let context = try makeContext(Rack.self, Volume.self, at: store)
      try body(context, try #require(try Rack.fetch(in: context).first))
    }
  }

  @Test("They are computed by the store with the last save, over members and over to-one relationships")
  func values() throws {
    try withRack { context, rack in
      #expect((rack.bookCount, rack.pageSum, rack.searchLabel) == (2, 42, "poesie"))
      #expect(rack.books.allSatisfy { $0.rackLabel == "Poésie" })
    }
  }

  @Test("They are updated when their sources are saved again")
  func follow() throws {
    try withRack { context, rack in
      let book = try #require(try context.fetch(Volume.sorted(by: \.pages)).first)
      context.delete(book)
      rack.label = "Prose"
      try context.save()
      context.refreshAllObjects()
      #expect((rack.bookCount, rack.pageSum, rack.searchLabel) == (1, 32, "prose"))
      #expect(rack.books.map(\.rackLabel) == ["Prose"])
    }
  }

  @Test("They are used in predicates and sort orders like others")
  func requests() throws {
    try withRack { context, rack in
      Rack(context: context).label = "Empty"
      try context.save()
      try #expect(Rack.fetch(where: \.bookCount > 1, in: context) == [rack])
      try #expect(context.fetch(Rack.sorted(by: \.pageSum, ascending: false)).map(\.label) == ["Poésie", "Empty"])
      try #expect(Volume.count(where: \.rackLabel == "Poésie", in: context) == 2)
    }
  }
}
