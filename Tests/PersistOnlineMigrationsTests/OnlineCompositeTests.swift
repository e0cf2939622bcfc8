import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Testing

/// The law of composite attributes: elements of both models have equal values, and those of one model remain as long as
/// there is a value, whoever replaces it.
@Suite("Composite attributes with other elements in each model", .needsServer)
struct OnlineCompositeTests {
  @Test(
    "Programs with both models write composite values through expansion, backfill, contraction and abandoning",
    .law("online-composites", short: 6, long: 300))
  func randomWriters() {
    forEachSeed { seed in
      var numbers = SeededRandom(seed: seed)
      let pair = try CompositePair(&numbers)
      try OnlineCourse.run(
        seed: seed, from: pair.old, to: pair.new, CompositeLedger(pair), numbers, counts: (3...8, 10...30)
      ) { course in
        try course.expectIntact(", serving")
        if seed % 3 == 0 {
          let before = try CompositeLedger.places(course.second)
          try course.abort(to: pair.old)
          // The elements of the new model return.
          try course.migration.expand(to: pair.new)
          try course.migration.backfill()
          let again = try OnlineProgram(pair.new, course.url)
          try #expect(CompositeLedger.places(again) == before, "\(course.name), expanded again")
          try again.close()
        } else {
          try course.contract(force: true)
        }
        try course.expectIntact()
      }
    }
  }

  private func version(_ name: String, _ elements: [AttributeDescription]) throws -> ModelVersion {
    let place = AttributeDescription("place", .composite, compositeName: "Place")
    return ModelVersion(
      name: name,
      model: try ManagedObjectModel(
        ModelDescription(
          entities: [EntityDescription("Item", attributes: [place])],
          composites: [CompositeDescription("Place", elements: elements)], versionIdentifiers: [name])))
  }

  @Test("Elements that one of the models requires, or can't represent, are refused with a reason")
  func refusals() throws {
    let street = AttributeDescription("street", .string)
    func reasons(_ old: [AttributeDescription], _ new: [AttributeDescription]) throws -> [String] {
      let plan = try OnlineShop.planOnly(version("1", old), version("2", new))
      for refusal in plan.refusals { #expect(refusal.reason.hasSuffix("."), "\(refusal)") }
      return plan.refusals.map { "\($0.entity ?? "").\($0.property ?? "")" }
    }
    let needed = AttributeDescription("zip", .string, isOptional: false)
    try #expect(reasons([street], [street, needed]) == ["Item.place"])
    try #expect(reasons([street, needed], [street]) == ["Item.place"])
    let (wide, narrow) = (AttributeDescription("zip", .int64), AttributeDescription("zip", .int16))
    try #expect(reasons([street, wide], [street, narrow]) == ["Item.place"])
    try #expect(reasons([street, narrow], [street, wide]) == [])
  }

  @Test("A value of an element that the old type can't represent is refused until the store is contracted")
  func valuesWithoutEqual() throws {
    let versions = try (version("1", [.init("zip", .int16)]), version("2", [.init("zip", .int32)]))
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(versions.0, url)
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: versions.1)
      try migration.backfill()
      let second = try OnlineProgram(versions.1, url)
      let item = try second.insert("Item")
      try item.setValue(["zip": 70_000], forKey: "place")
      let error = #expect(throws: PersistenceError.self) { try second.save() }
      #expect(error?.code == .validationRule, "\(error as Any)")
      try first.close()
      try migration.contract()
      try second.save()
      try #expect((second.all("Item").first?["place"] as? [String: Any])?["zip"] as? Int == 70_000)
      try second.close()
    }
  }
}

/// Two models of items with a place, whose elements are renamed, added, removed, get other types or become required.
struct CompositePair {
  struct Element {
    let oldName: String?
    let newName: String?
    let isNumber: Bool
    /// The default of a new value: in the old model, and in the new one.
    let defaults: (old: Int?, new: Int?)
  }

  let old: ModelVersion
  let new: ModelVersion
  private(set) var elements: [Element] = []

  init(_ numbers: inout SeededRandom) throws {
    func chance() -> Bool { Bool.random(using: &numbers) }
    var (before, after): ([AttributeDescription], [AttributeDescription]) = ([], [])
    for (index, name) in ["street", "zip", "floor", "code"].enumerated() {
      let isNumber = index > 0
      let (hasOld, hasNew) = index == 0 ? (true, true) : [(true, true), (true, false), (false, true)][
        Int.random(in: 0...2, using: &numbers)]
      let isRenamed = hasOld && hasNew && Int.random(in: 0..<3, using: &numbers) == 0
      let newName = isRenamed ? "new" + name.capitalized : name
      let (old, new): (AttributeType, AttributeType) = !isNumber
        ? (.string, .string)
        : [(.int16, .int64), (.int32, .int32), (.int32, .double), (.int64, .decimal)][
          Int.random(in: 0...3, using: &numbers)]
      func standard() -> Int? { isNumber && chance() ? Int.random(in: 1...9, using: &numbers) : nil }
      let defaults = (hasOld ? standard() : nil, hasNew ? standard() : nil)
      func value(_ number: Int?, _ type: AttributeType) -> StoredValue {
        guard let number else { return .null }
        switch type {
        case .double: return .double(Double(number))
        case .decimal: return .decimal(Decimal(number))
        default: return .integer(Int64(number))
        }
      }
      if hasOld { before.append(AttributeDescription(name, old, default: value(defaults.0, old))) }
      if hasNew {
        after.append(
          AttributeDescription(
            newName, new, default: value(defaults.1, new), renamingIdentifier: isRenamed ? name : nil))
      }
      elements.append(
        Element(
          oldName: hasOld ? name : nil, newName: hasNew ? newName : nil, isNumber: isNumber, defaults: defaults))
    }
    func version(_ name: String, _ elements: [AttributeDescription]) throws -> ModelVersion {
      let place = AttributeDescription("place", .composite, compositeName: "Place")
      let description = ModelDescription(
        entities: [
          EntityDescription("Item", attributes: [place, AttributeDescription("label", .string)]),
          EntityDescription("Book", parent: "Item", attributes: [AttributeDescription("pages", .int32)]),
        ], composites: [CompositeDescription("Place", elements: elements)], versionIdentifiers: [name])
      return ModelVersion(name: name, model: try ManagedObjectModel(description))
    }
    (old, new) = try (version("1", before), version("2", after))
  }
}

struct CompositeLedger: AcknowledgedWrites {
  /// The values of a place's elements in both models, as numbers.
  private struct Place {
    var old: [Int?]
    var new: [Int?]
  }

  private let pair: CompositePair
  private var places: [String: Place] = [:]
  var isExpanded = false

  init(_ pair: CompositePair) { self.pair = pair }

  private func name(_ element: CompositePair.Element, _ side: OnlineSide) -> String? {
    side == .old ? element.oldName : element.newName
  }

  mutating func write(_ program: OnlineProgram, _ side: OnlineSide, _ numbers: inout SeededRandom) throws {
    let present = try program.all("Item").sorted { Self.key($0) < Self.key($1) }
    let isNew = present.isEmpty || Int.random(in: 0..<4, using: &numbers) == 0
    let object = isNew
      ? try program.insert(Bool.random(using: &numbers) ? "Item" : "Book") : present.randomElement(using: &numbers)
    guard let object else { return }
    if !isNew, Int.random(in: 0..<8, using: &numbers) == 0 {
      let key = Self.key(object)
      program.context.delete(object)
      try program.save()
      places[key] = nil
      return
    }
    object["label"] = "label \(Int.random(in: 0...9, using: &numbers))"
    var values: [Int?] = pair.elements.map { _ in nil }
    if Int.random(in: 0..<4, using: &numbers) > 0 {
      for (index, element) in pair.elements.enumerated() where name(element, side) != nil {
        if Int.random(in: 0..<4, using: &numbers) > 0 { values[index] = Int.random(in: 0...50, using: &numbers) }
      }
    }
    var dictionary: [String: Any] = [:]
    for (element, value) in zip(pair.elements, values) {
      guard let value, let name = name(element, side) else { continue }
      dictionary[name] = element.isNumber ? value as Any : "v\(value)"
    }
    try object.setValue(dictionary.isEmpty ? nil : dictionary, forKey: "place")
    try program.save()
    record(values, of: Self.key(object), side)
  }

  private mutating func record(_ values: [Int?], of key: String, _ side: OnlineSide) {
    let nothing: [Int?] = pair.elements.map { _ in nil }
    let known = places[key]
    var place = known ?? Place(old: nothing, new: nothing)
    let before = side == .old ? place.old : place.new
    // Nothing changes for the other model if nothing has changed.
    if known != nil, before == values { return }
    let (was, isThere) = (before.contains { $0 != nil }, values.contains { $0 != nil })
    func follow(_ other: [Int?], _ standard: (CompositePair.Element) -> Int?) -> [Int?] {
      zip(pair.elements, zip(other, values)).map { element, pair in
        guard name(element, side == .old ? .new : .old) != nil else { return nil }
        guard name(element, side) == nil else { return pair.1 }
        if !isThere { return nil }
        return was ? pair.0 : pair.0 ?? standard(element)
      }
    }
    switch side {
    case .old: place = Place(old: values, new: follow(place.new) { $0.defaults.new })
    case .new: place = Place(old: follow(place.old) { $0.defaults.old }, new: values)
    }
    places[key] = place
  }

  func compare(_ program: OnlineProgram, _ side: OnlineSide, _ place: String) throws {
    let expected = places.mapValues { values -> String in
      let values = side == .old ? values.old : values.new
      return zip(pair.elements, values).compactMap { element, value in
        guard let value, let name = name(element, side) else { return nil }
        return "\(name)=\(element.isNumber ? "\(value)" : "v\(value)")"
      }.sorted().joined(separator: " ")
    }
    try #expect(Self.places(program) == expected, "\(place)")
  }

  /// The places that a program sees, by the items' keys.
  static func places(_ program: OnlineProgram) throws -> [String: String] {
    let pairs = try program.all("Item").map { item -> (String, String) in
      let value = item["place"] as? [String: Any] ?? [:]
      let parts = value.compactMap { name, value -> String? in
        switch value {
        case let number as Double: "\(name)=\(Int(number))"
        case let text: "\(name)=\(text)"
        }
      }
      return (key(item), parts.sorted().joined(separator: " "))
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  private static func key(_ object: ManagedObject) -> String { object.objectID.uriRepresentation().lastPathComponent }
}
