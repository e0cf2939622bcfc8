import Foundation
@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools
import PersistTestSupport
import Testing

@testable import PersistTesting

@Suite("Random objects")
struct FillSliceTests {
  private func writes(
    _ model: ManagedObjectModel, _ range: Range<Int>, chosen: [String: Int] = [:], seed: UInt64 = 1
  ) throws -> RowWrites {
    var generator = SeededGenerator(seed: seed)
    var counts = try FillCounts(model, rows: range.count, chosen: chosen)
    let before = model.entities.map { _ in range.lowerBound }
    return try FillSlice(model).writes(
      counts.next(slice: 0, of: 1), before: before,
      firstNumbers: Array(repeating: 1, count: model.entities.count), using: &generator)
  }

  private func values(_ writes: RowWrites, _ entity: String, _ property: String) throws -> [StoredValue] {
    try writes.inserts.filter { $0.entity.name == entity }.map {
      $0.values[try #require($0.entity.property(named: property)).slot] ?? .null
    }
  }

  @Test("A number of objects that is negative or too large is refused", arguments: [-1, 1_000_000_001, Int.max])
  func impossibleNumbers(_ rows: Int) throws {
    try withTemporaryStore { url in
      let model = try ManagedObjectModel(ModelDescription(entities: [EntityDescription("A")]))
      let registry = ModelRegistry(versions: [ModelVersion(name: "1", model: model)], family: "A")
      let writer = try StoreWriter(storeAt: url, registry: registry, version: nil)
      let error = #expect(throws: PersistenceError.self) {
        try FillPass(store: writer, rows: rows, seed: 1).run { _ in }
      }
      #expect(error?.code == .invalidRequest)
      try writer.close()
    }
  }

  @Test(
    "Required one-to-ones of a hierarchy get as many others, in each slice",
    .law("fill-counts", short: 30, long: 3000))
  func requiredByHierarchy() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let kinds = (0..<Int.random(in: 1...4, using: &random)).map { "Kind\($0)" }
      let receipt = RelationshipDescription("receipt", to: "Receipt", inverse: "payment", isOptional: false)
      let isAbstract = Bool.random(using: &random)
      let model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription("Payment", isAbstract: isAbstract, relationships: [receipt]),
          EntityDescription("Receipt", relationships: [.init("payment", to: "Payment", inverse: "receipt")]),
        ] + kinds.map { EntityDescription($0, parent: "Payment") }))
      let rows = Int.random(in: 0...5000, using: &random)
      let chosen = Bool.random(using: &random) ? [kinds[0]: Int.random(in: 0...5000, using: &random)] : [:]
      var counts = try FillCounts(model, rows: rows, chosen: chosen)
      let slices = counts.sliceCount(ofSize: 500)
      for slice in 0..<slices {
        let numbers = counts.next(slice: slice, of: slices)
        var sums: [String: Int] = [:]
        for (entity, number) in zip(model.entities, numbers) { sums[entity.root.name, default: 0] += number }
        #expect(sums["Receipt", default: 0] >= sums["Payment", default: 0])
      }
      for (entity, used) in zip(model.entities, counts.used) where !entity.isAbstract && entity.name != "Receipt" {
        #expect(used == chosen[entity.name] ?? rows)
      }
    }
  }

  @Test("Values respect their attribute's limits, lengths and patterns")
  func rules() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "A",
          attributes: [
            AttributeDescription(
              "small", .int16, isOptional: false,
              validation: AttributeValidation(minimum: .integer(3), maximum: .integer(5))),
            AttributeDescription(
              "negative", .double, isOptional: false, validation: AttributeValidation(maximum: .double(-7.5))),
            AttributeDescription(
              "short", .string, isOptional: false, validation: AttributeValidation(minimumLength: 2, maximumLength: 4)),
            AttributeDescription(
              "code", .string, isOptional: false, validation: AttributeValidation(pattern: "[A-Z]{3}")),
            AttributeDescription(
              "price", .decimal, isOptional: false,
              validation: AttributeValidation(minimum: .decimal(1), maximum: .decimal(2))),
          ])
      ]))
    let writes = try writes(model, 0..<500)
    #expect(writes.inserts.count == 500)
    for case .integer(let value) in try values(writes, "A", "small") { #expect((3...5).contains(value)) }
    for case .double(let value) in try values(writes, "A", "negative") { #expect(value <= -7.5) }
    for case .string(let value) in try values(writes, "A", "short") { #expect((2...4).contains(value.count)) }
    for case .string(let value) in try values(writes, "A", "code") { #expect(value.wholeMatch(of: /[A-Z]{3}/) != nil) }
    for case .decimal(let value) in try values(writes, "A", "price") { #expect(value >= 1 && value <= 2) }
    #expect(writes.inserts.allSatisfy { insert in insert.values.allSatisfy { !(copy $1).isNull } })
  }

  @Test("Values with only a maximum are below it, unique ones too")
  func maximumAlone() throws {
    let latest = Date(timeIntervalSinceReferenceDate: 0)
    let days = AttributeValidation(maximum: .date(latest))
    let prices = AttributeValidation(maximum: .decimal(-5))
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "A",
          attributes: [
            AttributeDescription("day", .date, isOptional: false, validation: days),
            AttributeDescription("ownDay", .date, isOptional: false, validation: days),
            AttributeDescription("ownPrice", .decimal, isOptional: false, validation: prices),
          ], uniquenessConstraints: [["ownDay"], ["ownPrice"]])
      ]))
    let writes = try writes(model, 0..<500)
    for name in ["day", "ownDay"] {
      for case .date(let value) in try values(writes, "A", name) { #expect(value <= latest) }
    }
    for case .decimal(let value) in try values(writes, "A", "ownPrice") { #expect(value <= -5) }
    for name in ["ownDay", "ownPrice"] { try #expect(Set(values(writes, "A", name)).count == 500) }
    try #expect(Set(values(writes, "A", "day")).count > 400)
  }

  @Test("Limits without enough values for unique ones, or without any, are an error", arguments: [
    AttributeDescription(
      "a", .date, validation: AttributeValidation(minimum: .date(.distantPast), maximum: .date(Date.distantPast + 5))),
    AttributeDescription("a", .decimal, validation: AttributeValidation(minimum: .decimal(0), maximum: .decimal(0.05))),
    AttributeDescription("a", .double, validation: AttributeValidation(minimum: .double(2), maximum: .double(1))),
  ])
  func impossibleLimits(_ attribute: AttributeDescription) throws {
    let entity = EntityDescription("A", attributes: [attribute], uniquenessConstraints: [["a"]])
    let model = try ManagedObjectModel(withFlaws: ModelDescription(entities: [entity]))
    let error = #expect(throws: PersistenceError.self) { try writes(model, 0..<10) }
    #expect(error?.code == .invalidRequest && error?.place.property == "a")
  }

  @Test("Rules in the predicate language are satisfied, and one that can't be is an error")
  func predicates() throws {
    func model(_ rule: String) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("A") {
          AttributeDescription(
            "number", .int32, isOptional: false, validation: AttributeValidation(rules: [.init(predicate: rule)]))
        }
      }
    }
    let writes = try writes(model("SELF > 5000"), 0..<100)
    for case .integer(let value) in try values(writes, "A", "number") { #expect(value > 5000) }
    let error = #expect(throws: PersistenceError.self) { try self.writes(model("SELF < 0 AND SELF > 0"), 0..<1) }
    #expect(error?.place.property == "number")
  }

  @Test("Every uniqueness constraint of a hierarchy is satisfied")
  func unique() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "A", attributes: [AttributeDescription("name", .string), AttributeDescription("number", .int32)],
          uniquenessConstraints: [["name", "number"], ["number"]]),
        EntityDescription("B", parent: "A"),
      ]))
    let writes = try writes(model, 0..<1000)
    let numbers = try values(writes, "A", "number") + values(writes, "B", "number")
    #expect(Set(numbers).count == 2000)
  }

  @Test("An element of a composite attribute that must be unique has a different value in every object")
  func uniqueElement() throws {
    let model = try ManagedObjectModel(
      ModelDescription(
        entities: [
          EntityDescription(
            "A", attributes: [AttributeDescription("place", .composite, isOptional: false, compositeName: "Place")],
            uniquenessConstraints: [["place.number"]])
        ],
        composites: [
          CompositeDescription(
            "Place", elements: [AttributeDescription("name", .string), AttributeDescription("number", .int32)])
        ]))
    let numbers = try values(writes(model, 0..<1000), "A", "place").map { $0.element(at: ["number"]) }
    #expect(Set(numbers).count == 1000 && !numbers.contains(.null))
  }

  @Test("An attribute that can't be unique for that many objects is an error that names it")
  func tooFewValues() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "A", attributes: [AttributeDescription("flag", .boolean)], uniquenessConstraints: [["flag"]])
      ]))
    let error = #expect(throws: PersistenceError.self) { try writes(model, 0..<10) }
    #expect(error?.place.property == "flag")
  }

  @Test("The same seed gives the same values, another seed gives others")
  func deterministic() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "A", attributes: AttributeType.allCases.filter { ![.composite, .undefined, .objectID].contains($0) }.map {
            AttributeDescription($0.rawValue, $0)
          })
      ]))
    let first = try writes(model, 0..<50, seed: 42).inserts.map(\.values)
    #expect(try writes(model, 0..<50, seed: 42).inserts.map(\.values) == first)
    #expect(try writes(model, 0..<50, seed: 43).inserts.map(\.values) != first)
  }

  @Test("Required to-ones have a destination, counts of to-manys are valid, both sides of a one-to-one agree")
  func relationships() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Book",
          relationships: [
            RelationshipDescription("author", to: "Author", inverse: "books", isOptional: false),
            RelationshipDescription("cover", to: "Cover", inverse: "book", isOptional: false),
            RelationshipDescription("shelves", toMany: "Shelf", inverse: "books", minimumCount: 2, maximumCount: 5),
          ]),
        EntityDescription(
          "Author",
          relationships: [
            RelationshipDescription("books", toMany: "Book", inverse: "author", isOptional: false, maximumCount: 3)
          ]),
        EntityDescription("Cover", relationships: [RelationshipDescription("book", to: "Book", inverse: "cover")]),
        EntityDescription(
          "Shelf",
          relationships: [RelationshipDescription("books", toMany: "Book", inverse: "shelves", isOrdered: true)]),
      ]))
    let writes = try writes(model, 0..<100)
    let authors = try values(writes, "Book", "author")
    #expect(!authors.contains(.null))
    let counts = Dictionary(grouping: authors, by: \.self).mapValues(\.count)
    #expect(counts.count == 100)
    #expect(counts.values.allSatisfy { $0 <= 3 })
    #expect(Set(try values(writes, "Book", "cover")).count == 100)
    #expect(Set(try values(writes, "Cover", "book")).count == 100)
    let shelves = writes.links.filter { $0.entity.name == "Book" }
    #expect(shelves.count + writes.links.filter { $0.entity.name == "Shelf" }.count == writes.links.count)
    #expect(!writes.orderings.isEmpty)
    #expect(writes.orderings.allSatisfy { $0.entity.name == "Shelf" && Set($0.members).count == $0.members.count })
  }

  @Test("A minimum count that can't be reached is an error that names the relationship")
  func impossible() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription("A", relationships: [RelationshipDescription("b", to: "B", inverse: "many")]),
        EntityDescription(
          "B",
          relationships: [
            RelationshipDescription("many", toMany: "A", inverse: "b", isOptional: false, minimumCount: 2)
          ]),
      ]))
    let error = #expect(throws: PersistenceError.self) {
      try writes(model, 0..<10, chosen: ["A": 10, "B": 10])
    }
    #expect(error?.place.property == "many")
    try #expect(writes(model, 0..<10).inserts.count == 30)
  }
}

extension FillSliceTests {
  @Test("Objects can be created for every real model", .needsSharedData)
  func realModels() throws {
    for url in SharedData.modelContents {
      let model = try ManagedObjectModel(XMLModelReader.model(at: url))
      let writes = try writes(model, 0..<20)
      let concrete = model.entities.filter { !$0.isAbstract }
      #expect(writes.inserts.count == concrete.count * 20, "\(url.path)")
      let invalid = writes.inserts.flatMap { row in
        row.entity.properties.filter { property in
          guard (row.values[property.slot] ?? .null).isNull, !property.isTransient else { return false }
          if let attribute = property.attribute { return !attribute.isOptional && !attribute.isDerived }
          return property.isToOne && property.relationship?.isOptional == false
        }.map { "\(row.entity.name).\($0.name)" }
      }
      #expect(Set(invalid).isEmpty, "\(url.path)")
    }
  }
}
