import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Random values on new objects of an entity with every kind of attribute, beside a plain list of what they should be.
struct NewValueLaw {
  static let description = ModelDescription(
    entities: [
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription("boolean", .boolean, default: .boolean(true)),
          AttributeDescription("composite", .composite, compositeName: "Coordinate"),
          AttributeDescription("data", .binary),
          AttributeDescription("date", .date),
          AttributeDescription("decimal", .decimal, default: .decimal(Decimal(1) / 10)),
          AttributeDescription("double", .double),
          AttributeDescription("file", .binary, allowsExternalStorage: true),
          AttributeDescription("int16", .int16, default: .integer(-7)),
          AttributeDescription("int64", .int64),
          AttributeDescription("string", .string, default: .string("a default of more than fifteen bytes")),
          AttributeDescription("transient", .string, isTransient: true, default: .string("in memory")),
          AttributeDescription("uri", .uri),
          AttributeDescription("uuid", .uuid),
        ],
        relationships: [RelationshipDescription("owner", to: "Owner", inverse: "items")]),
      EntityDescription(
        "Owner", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "owner")]),
    ],
    composites: [
      CompositeDescription(
        "Coordinate", elements: [AttributeDescription("x", .double), AttributeDescription("name", .string)])
    ])

  private struct Expected {
    let object: ManagedObject
    var values: [StoredValue]
  }

  private let stack: TestStack
  private let context: ManagedObjectContext
  private let item: Entity
  private let ownerSlot: Int
  private var random: SeededRandom
  private var items: [Expected] = []
  private var owners: [ManagedObject] = []

  init(seed: UInt64, _ stack: TestStack) throws {
    self.stack = stack
    context = stack.context()
    item = try stack.model.entity(named: "Item")
    ownerSlot = item.property(named: "owner")?.slot ?? 0
    random = SeededRandom(seed: seed)
  }

  /// Performs random steps. After each, an object shows what it should; in the end all do, also in the reopened store.
  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      try step()
      if let one = items.randomElement(using: &random) { try check(one, "in the context") }
    }
    try context.save()
    for expected in items { try check(expected, "after the save") }
    let reopened = try stack.reopened().context()
    for expected in items {
      var stored = expected
      stored.values[slot("transient")] = .string("in memory")
      try check(stored, "in the store", read: reopened.existingObject(with: expected.object.objectID))
    }
  }

  private func slot(_ name: String) -> Int { item.property(named: name)?.slot ?? 0 }

  private mutating func step() throws {
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<6:
      let object = try context.create("Item")
      items.append(Expected(object: object, values: initialValues))
    case 6..<8:
      guard let source = items.randomElement(using: &random) else { return }
      let object = try context.create("Item")
      let attributes = item.properties.filter { $0.attribute != nil }
      object.setPending(attributes.map { AttributeCopy(from: $0.slot, to: $0.slot) }, of: source.object)
      items.append(Expected(object: object, values: source.values))
    case 8: owners.append(try context.create("Owner"))
    case 9: try context.save()
    case 10: if let one = items.randomElement(using: &random) { _ = one.object.changedValues() }
    case 11:
      guard let place = items.indices.randomElement(using: &random) else { return }
      context.delete(items.remove(at: place).object)
    case 12..<16:
      guard let place = items.indices.randomElement(using: &random) else { return }
      let owner = Bool.random(using: &random) ? owners.randomElement(using: &random) : nil
      items[place].object.setToOne(owner, at: ownerSlot)
    default:
      guard let place = items.indices.randomElement(using: &random) else { return }
      let attributes = item.properties.filter { $0.attribute != nil }
      guard let property = attributes.randomElement(using: &random) else { return }
      let value = Int.random(in: 0..<6, using: &random) == 0 ? .null : value(for: property)
      items[place].object.setAttributeValue(value, at: property.slot)
      items[place].values[property.slot] = value
    }
  }

  private var initialValues: [StoredValue] { item.properties.map { $0.attribute?.defaultValue ?? .null } }

  private mutating func value(for property: Property) -> StoredValue {
    // Now and then one that is too large for a row beside others.
    let size = Int.random(in: 0..<8, using: &random) == 0 ? 20_000 : Int.random(in: 0..<60, using: &random)
    let text = String((0..<size).map { _ in "aé𝄞e\u{301}z".randomElement(using: &random) ?? "a" })
    let number = Int64.random(in: -30_000...30_000, using: &random)
    switch property.attribute?.type {
    case .boolean: return .boolean(number > 0)
    case .composite: return .composite(["x": .double(Double(number)), "name": .string(text)])
    case .binary: return .data(Data(text.utf8))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number) / 8))
    case .decimal: return .decimal(Decimal(number) / 100)
    case .double: return .double(Double(number) / 3)
    case .uri: return .uri("https://swift.org/\(number)")
    case .uuid: return .uuid(UUID())
    case .string: return .string(text)
    default: return .integer(number)
    }
  }

  private func check(_ expected: Expected, _ place: String, read: ManagedObject? = nil) throws {
    let object = read ?? expected.object
    for property in item.properties where property.attribute != nil {
      let value = object.attributeValue(at: property.slot)
      guard value != expected.values[property.slot] else { continue }
      throw Difference(description: "\(place): \(property.name) is \(value), not \(expected.values[property.slot])")
    }
    guard let own = expected.object.toOne(at: ownerSlot) else { return }
    let owner = object.toOne(at: ownerSlot)
    guard owner?.objectID != own.objectID else { return }
    throw Difference(description: "\(place): owner is \(String(describing: owner))")
  }

  private struct Difference: Error, CustomStringConvertible {
    let description: String
  }
}
