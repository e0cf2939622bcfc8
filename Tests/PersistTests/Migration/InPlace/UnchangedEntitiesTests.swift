import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The knowledge about entities that a migration doesn't change, without comparing and planning their parts.
@Suite("Entities that a migration doesn't change")
struct UnchangedEntitiesTests {
  @Test(
    "Leaving out what is unchanged changes neither the comparison nor the plan",
    .law("unchanged-entities", short: 60, long: 3000))
  func shortcuts() {
    var (entities, hierarchies) = (0, 0)
    let count = forEachSeed { seed in
      guard let models = try RandomModels(seed: seed).chain(of: 3)?.versions.map(\.model) else { return }
      for (from, to) in [(0, 1), (1, 2), (0, 2), (1, 1)] {
        let (old, new) = (models[from], models[to])
        guard let correspondence = try? ModelCorrespondence(from: old, to: new) else { continue }
        let quick = ModelComparison(from: old, to: new, by: correspondence)
        let whole = ModelComparison(
          from: old, to: new, by: correspondence, unchanged: new.entities.map { _ in false })
        #expect(quick.operations == whole.operations, "seed \(seed)")
        entities += quick.unchanged.count { $0 }
        for defersWork in [false, true] {
          let (one, other) = (plan(quick, defersWork), plan(whole, defersWork, unchanged: UnchangedHierarchies()))
          #expect(one.changes == other.changes, "seed \(seed)")
          #expect(one.checks == other.checks && one.blockers == other.blockers, "seed \(seed)")
          #expect(one.deferred == other.deferred && one.laterUpdates == other.laterUpdates, "seed \(seed)")
          #expect(one.convertibleTables == other.convertibleTables, "seed \(seed)")
          #expect(one.forgotten == other.forgotten && one.keptColumns == other.keptColumns, "seed \(seed)")
        }
        let unchanged = UnchangedHierarchies(quick, from: .forNewStore(old), to: .forNewStore(new))
        hierarchies += new.entities.count { $0.superentity == nil && unchanged.contains($0) }
      }
    }
    // The law is about something.
    #expect(entities > count / 2 && hierarchies > count / 4 || count < 20)
  }

  private func plan(
    _ comparison: ModelComparison, _ defersWork: Bool, unchanged: UnchangedHierarchies? = nil
  ) -> InPlaceWork {
    let old = TableMap.forNewStore(comparison.old)
    return InPlacePlanner.plan(
      from: old, schema: StoreSchema(newStore: old), to: .forNewStore(comparison.new), comparison: comparison,
      defersWork: defersWork, unchanged: unchanged)
  }

  private static func library(_ change: (inout [EntityDescription]) -> Void = { _ in }) throws -> ManagedObjectModel {
    var entities = [
      EntityDescription(
        "Author", attributes: [.init("name", .string)],
        relationships: [.init("books", toMany: "Book", inverse: "author")]),
      EntityDescription(
        "Book", attributes: [.init("title", .string)],
        relationships: [
          .init("author", to: "Author", inverse: "books"), .init("shelf", to: "Shelf", inverse: "books"),
        ]),
      EntityDescription("Room", attributes: [.init("number", .int32)]),
      EntityDescription("Shelf", relationships: [.init("books", toMany: "Book", inverse: "shelf")]),
    ]
    change(&entities)
    return try ManagedObjectModel(ModelDescription(entities: entities))
  }

  /// The entities that are unchanged by themselves, and those whose tables need no plan.
  private func unchanged(
    by change: (inout [EntityDescription]) -> Void
  ) throws -> (entities: [String], tables: [String]) {
    let (old, new) = (try Self.library(), try Self.library(change))
    let comparison = try ModelComparison(from: old, to: new)
    let hierarchies = UnchangedHierarchies(comparison, from: .forNewStore(old), to: .forNewStore(new))
    return (
      new.entities.filter(comparison.isUnchanged).map(\.name), new.entities.filter(hierarchies.contains).map(\.name)
    )
  }

  @Test("An entity with a changed attribute, and those that refer to it, need a plan; all others don't")
  func neighbors() throws {
    let added = try unchanged { $0[0].attributes.append(.init("born", .date)) }
    #expect(added.entities == ["Book", "Room", "Shelf"])
    // The columns of a relationship depend on both ends.
    #expect(added.tables == ["Room", "Shelf"])
    #expect(try unchanged { _ in }.tables == ["Author", "Book", "Room", "Shelf"])
  }

  @Test("An entity that is renamed, moves or gets another number isn't unchanged")
  func places() throws {
    let renamed = try unchanged {
      $0[2].name = "Hall"
      $0[2].renamingIdentifier = "Room"
    }
    #expect(renamed.entities == ["Author", "Book", "Shelf"] && renamed.tables == ["Author", "Book", "Shelf"])
    let moved = try unchanged { $0[2].parent = "Author" }
    #expect(!moved.entities.contains("Room") && !moved.tables.contains("Author") && !moved.tables.contains("Room"))
    let first = try unchanged { $0.append(EntityDescription("Aisle")) }
    #expect(first.entities == ["Author", "Book", "Room", "Shelf"] && first.tables == [])
  }

  @Test("A hierarchy that loses an entity changes, also if another one takes over the entity's name")
  func takenName() throws {
    func model(_ last: [EntityDescription]) throws -> ManagedObjectModel {
      try ManagedObjectModel(ModelDescription(entities: [EntityDescription("A"), EntityDescription("B")] + last))
    }
    var successor = EntityDescription("Z", parent: "B")
    successor.renamingIdentifier = "Q"
    let old = try model([EntityDescription("Q", parent: "B"), EntityDescription("Z", parent: "A")])
    let new = try model([successor])
    let correspondence = try ModelCorrespondence(from: old, to: new)
    try #require(correspondence.entities["Z"] == "Q")
    let whole = ModelComparison(from: old, to: new, by: correspondence, unchanged: new.entities.map { _ in false })
    let quick = ModelComparison(from: old, to: new, by: correspondence)
    let hierarchies = UnchangedHierarchies(quick, from: .forNewStore(old), to: .forNewStore(new))
    #expect(!new.entities.contains(where: hierarchies.contains))
    #expect(plan(quick, false).changes == plan(whole, false, unchanged: UnchangedHierarchies()).changes)
  }

  @Test("Constraints and indexes of inherited attributes change if these exchange their names")
  func inherited() throws {
    func model(_ first: String?, _ second: String?) throws -> ManagedObjectModel {
      var attributes: [AttributeDescription] = [.init("a", .string), .init("b", .string)]
      (attributes[0].renamingIdentifier, attributes[1].renamingIdentifier) = (first, second)
      return try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription("Parent", attributes: attributes),
          EntityDescription("Child", parent: "Parent", uniquenessConstraints: [["a"]]),
        ]))
    }
    let comparison = try ModelComparison(from: model(nil, nil), to: model("b", "a"))
    let kinds = comparison.operations.filter { $0.entity == "Child" }.map(\.kind)
    #expect(kinds.contains(.removeUniquenessConstraint) && kinds.contains(.addUniquenessConstraint))
  }
}
