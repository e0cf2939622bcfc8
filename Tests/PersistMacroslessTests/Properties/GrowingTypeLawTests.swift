import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import PersistTools
import Synchronization
import Testing

/// One version of a type: its parts, and the cases that its enumeration has.
private struct Shape: Sendable {
  enum Kind: CaseIterable, Sendable { case int, double, text, choice }

  struct Part: Sendable {
    /// The part's identity in all versions.
    let number: Int
    var name: String
    var kind: Kind
    var isOptional: Bool
    var standard: StoredValue
  }

  var parts: [Part] = []
  var cases: Set<String> = ["a", "b", "c", "d"]
  /// Today's names by former ones.
  var renames: [String: String] = [:]
}

/// Distinguishes the versions of the types below, whose shapes are those of the current seed.
private protocol Version: Sendable {
  // A composite type is named in the model, so it can't be generic.
  associatedtype Composed: CompositeValue & Parts
  static var shape: Mutex<Shape> { get }
}

private enum First: Version {
  static let shape = Mutex(Shape())
  struct Composed: ComposedParts { typealias V = First; var values: [String: StoredValue] }
}

private enum Second: Version {
  static let shape = Mutex(Shape())
  struct Composed: ComposedParts { typealias V = Second; var values: [String: StoredValue] }
}

private enum Third: Version {
  static let shape = Mutex(Shape())
  struct Composed: ComposedParts { typealias V = Third; var values: [String: StoredValue] }
}

extension Version {
  fileprivate static var current: Shape { shape.withLock { $0 } }
}

private struct Choice<V: Version>: RawRepresentable, StorableValue, Codable {
  let rawValue: String
  init?(rawValue: String) {
    guard V.current.cases.contains(rawValue) else { return nil }
    self.rawValue = rawValue
  }
}

private struct Key: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// The parts of a value, coded as a structure with such properties is.
private protocol Parts: Codable, Equatable, Sendable {
  associatedtype V: Version
  var values: [String: StoredValue] { get set }
  init(values: [String: StoredValue])
}

private protocol ComposedParts: CompositeValue, Parts {}

extension ComposedParts {
  static var renamedParts: [String: String] { V.current.renames }
}

extension Parts {
  static var standard: [String: StoredValue] {
    Dictionary(uniqueKeysWithValues: V.current.parts.map { ($0.name, $0.standard) }).filter { !$0.value.isNull }
  }

  init() { self.init(values: Self.standard) }

  init(from decoder: any Decoder) throws {
    self.init()
    let container = try decoder.container(keyedBy: Key.self)
    func value<Value: StorableValue & Decodable>(_ type: Value.Type, _ part: Shape.Part) throws -> StoredValue {
      let key = Key(part.name)
      if part.isOptional { return try container.decodeIfPresent(type, forKey: key)?.stored ?? .null }
      return try container.decode(type, forKey: key).stored
    }
    for part in V.current.parts {
      let value = switch part.kind {
      case .int: try value(Int32.self, part)
      case .double: try value(Double.self, part)
      case .text: try value(String.self, part)
      case .choice: try value(Choice<V>.self, part)
      }
      values[part.name] = value.isNull ? nil : value
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for part in V.current.parts {
      let key = Key(part.name)
      switch (part.kind, values[part.name]) {
      case (_, nil): break
      case (.choice, .string(let raw)?): try container.encode(Choice<V>(rawValue: raw), forKey: key)
      case (_, .integer(let value)?): try container.encode(Int32(value), forKey: key)
      case (_, .double(let value)?): try container.encode(value, forKey: key)
      case (_, .string(let value)?): try container.encode(value, forKey: key)
      default: break
      }
    }
  }
}

private struct Written<V: Version>: JSONValue, Parts {
  static var renamedMembers: [String: String] { V.current.renames }
  var values: [String: StoredValue]
  init(values: [String: StoredValue]) { self.values = values }
  init() { values = Self.standard }
}

private class Base<V: Version>: ManagedObject, DescribedEntity {
  class var entityTraits: EntityTraits { EntityTraits(of: Base<V>.self, name: "Base") }
  @Attribute var number = 0
  @Composite var inherited = V.Composed()
  @Attribute var text = Written<V>()
}

private final class Owner<V: Version>: Base<V> {
  override class var entityTraits: EntityTraits { EntityTraits(of: Owner<V>.self, name: "Owner") }
  @Composite var optional: V.Composed?
  @Composite var missing: V.Composed?
  @Attribute var optionalText: Written<V>?
}

/// The stored values that a program expects of one property of one object, by the parts' identities.
private struct Expected {
  var stored: [Int: StoredValue]
  let isText: Bool

  /// The value that reading a part returns.
  func value(of part: Shape.Part, in shape: Shape) -> StoredValue {
    let value = stored[part.number] ?? .null
    if value.isNull { return part.isOptional ? .null : part.standard }
    if isUnreadable(part, in: shape) { return part.standard }
    if part.kind == .double, case .integer(let number) = value { return .double(Double(number)) }
    return value
  }

  func isUnreadable(_ part: Shape.Part, in shape: Shape) -> Bool {
    guard part.kind == .choice, case .string(let raw)? = stored[part.number] else { return false }
    return !shape.cases.contains(raw)
  }

  /// The values after a migration.
  mutating func migrate(from old: Shape, to new: Shape) {
    for part in new.parts where !isText {
      guard let before = old.parts.first(where: { $0.number == part.number }) else {
        stored[part.number] = part.standard
        continue
      }
      let isMissing = stored[part.number]?.isNull != false
      if isMissing, before.isOptional, !part.isOptional { stored[part.number] = part.standard }
    }
    // A removed column has no values; a removed member stays.
    if !isText { stored = stored.filter { entry in new.parts.contains { $0.number == entry.key } } }
  }
}

@Suite("Law of types that grow", .serialized)
struct GrowingTypeLawTests {
  /// The state of a random run.
  private struct Run {
    var random: SeededRandom
    var nextPart = 0
    var nextObject = 0
    var expected: [Int: [String: Expected]] = [:]

    mutating func value(_ kind: Shape.Kind, _ cases: Set<String>) -> StoredValue {
      switch kind {
      case .int: .integer(Int64.random(in: -5...5, using: &random))
      case .double: .double(Double(Int.random(in: -9...9, using: &random)) / 4)
      case .text: .string(["", "x", "é", "\"q\""].randomElement(using: &random) ?? "")
      case .choice: .string(cases.sorted().randomElement(using: &random) ?? "a")
      }
    }

    mutating func part(_ shape: Shape) -> Shape.Part {
      nextPart += 1
      let kind = Shape.Kind.allCases.randomElement(using: &random) ?? .int
      let isOptional = Bool.random(using: &random)
      // The last case is never removed, so that a default stays valid.
      let standard: StoredValue = kind == .choice ? "d" : value(kind, ["d"])
      return Shape.Part(
        number: nextPart, name: "p\(nextPart)", kind: kind, isOptional: isOptional,
        standard: isOptional && Bool.random(using: &random) ? .null : standard)
    }

    mutating func change(_ shape: Shape) -> Shape {
      var new = shape
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = new.parts.indices.dropFirst().randomElement(using: &random)
        switch (Int.random(in: 0..<7, using: &random), index) {
        case (0, _): new.parts.insert(part(new), at: Int.random(in: 1...new.parts.count, using: &random))
        case (1, let index?): new.parts.remove(at: index)
        case (2, let index?):
          let (name, renamed) = (new.parts[index].name, new.parts[index].name + "x")
          for (old, today) in new.renames where today == name { new.renames[old] = renamed }
          new.renames[name] = renamed
          new.parts[index].name = renamed
        case (3, let index?):
          new.parts[index].isOptional.toggle()
          if !new.parts[index].isOptional, new.parts[index].standard.isNull {
            new.parts[index].standard = new.parts[index].kind == .choice ? "d" : value(new.parts[index].kind, ["d"])
          }
        case (4, _): new.cases.remove(["a", "b", "c"].randomElement(using: &random) ?? "a")
        case (5, _): new.cases.insert(["a", "b", "c", "e"].randomElement(using: &random) ?? "a")
        case (_, let index?) where new.parts[index].kind == .int:
          new.parts[index].kind = .double
          if case .integer(let value) = new.parts[index].standard { new.parts[index].standard = .double(Double(value)) }
        default: break
        }
      }
      let names = Set(new.parts.map(\.name))
      new.renames = new.renames.filter { names.contains($0.value) }
      return new
    }
  }

  /// Migrates a store to a version, checks all values, and changes some of them.
  private func use<V: Version>(_ version: V.Type, at url: URL, after old: Shape?, _ run: inout Run) throws {
    let shape = V.current
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Base<V>.self, Owner<V>.self))
    if let old {
      for (number, properties) in run.expected {
        for name in properties.keys { run.expected[number]?[name]?.migrate(from: old, to: shape) }
      }
      try checkPlan(version, at: url, shape, run)
    }
    let store = try coordinator.addStore(at: url, options: .automaticMigration)
    defer { #expect(throws: Never.self) { try coordinator.remove(store) } }
    try check(version, coordinator, shape, run)
    let context = ManagedObjectContext(coordinator)
    for object in try context.fetch(FetchRequest<Owner<V>>("Owner")) {
      guard let part = shape.parts.randomElement(using: &run.random) else { continue }
      let value = run.value(part.kind, shape.cases)
      var expected = run.expected[object.number, default: [:]]
      object.inherited.values[part.name] = value
      object.optional?.values[part.name] = value
      object.text.values[part.name] = value
      object.optionalText?.values[part.name] = value
      for (name, old) in expected where name != "missing" {
        // An unreadable part is unchanged as long as it has the value that it reads as.
        if old.isUnreadable(part, in: shape), value == part.standard { continue }
        expected[name]?.stored[part.number] = value
      }
      run.expected[object.number] = expected
    }
    do { try context.save() } catch let error as PersistenceError where error.code == .typeMismatch {
      try context.save()
    }
    for _ in 0..<2 {
      run.nextObject += 1
      let object = Owner<V>(context: context)
      object.number = run.nextObject
      var value = V.Composed()
      for part in shape.parts {
        value.values[part.name] =
          part.isOptional && Bool.random(using: &run.random) ? nil : run.value(part.kind, shape.cases)
      }
      var text = Written<V>()
      text.values = value.values
      (object.inherited, object.optional, object.text, object.optionalText) = (value, value, text, text)
      let stored = Dictionary(uniqueKeysWithValues: shape.parts.map { ($0.number, value.values[$0.name] ?? .null) })
      for name in ["inherited", "optional"] {
        run.expected[object.number, default: [:]][name] = Expected(stored: stored, isText: false)
      }
      for name in ["text", "optionalText"] {
        run.expected[object.number, default: [:]][name] = Expected(stored: stored, isText: true)
      }
    }
    try context.save()
    try check(version, coordinator, shape, run)
    try checkStore(version, at: url, shape, run)
  }

  /// The key paths of the unreadable parts of all objects by property.
  private func unreadable(_ shape: Shape, _ run: Run) -> [String: [String]] {
    run.expected.values.reduce(into: [:]) { found, properties in
      for (name, expected) in properties {
        for part in shape.parts where expected.isUnreadable(part, in: shape) {
          found[name, default: []].append("\(name).\(part.name)")
        }
      }
    }
  }

  /// The plan lists what reading will report, and a migrator that refuses loss refuses exactly that, in either way.
  private func checkPlan<V: Version>(_ version: V.Type, at url: URL, _ shape: Shape, _ run: Run) throws {
    let model = try ManagedObjectModel(Base<V>.self, Owner<V>.self)
    let target = ModelVersion(name: "new", model: model)
    let plan = try MigrationPlan(storeAt: url, to: target, registry: ModelRegistry(versions: [target]))
    let expected = unreadable(shape, run)
    #expect(Set(plan.unreadable.map(\.property)) == Set(expected.keys))
    for values in plan.unreadable {
      let rows = run.expected.values.count { properties in
        shape.parts.contains { properties[values.property]?.isUnreadable($0, in: shape) == true }
      }
      #expect(values.rows == rows && values.entity == "Owner")
      #expect(values.examples.count == min(3, expected[values.property]?.count ?? 0))
      #expect(values.examples.allSatisfy { expected[values.property]?.contains($0.keyPath) == true })
    }
    let migrator = AutomaticMigrator(allowsLoss: false, alwaysCopies: expected.count.isMultiple(of: 2))
    try withTemporaryStore { other in
      try PersistentStoreCoordinator(model: model).replacePersistentStore(at: other, withPersistentStoreFrom: url)
      do {
        try migrator.migrate(storeAt: other, to: target, registry: nil)
        #expect(expected.isEmpty && plan.losses.isEmpty)
      } catch let error as PersistenceError {
        let errors = (error.errors.isEmpty ? [error] : error.errors).filter { $0.code == .typeMismatch }
        #expect(Set(errors.compactMap(\.place.property)) == Set(expected.keys))
        #expect(!expected.isEmpty || !plan.losses.isEmpty)
      }
    }
  }

  /// A check of the store lists what reading reports.
  private func checkStore<V: Version>(_ version: V.Type, at url: URL, _ shape: Shape, _ run: Run) throws {
    let model = ModelVersion(name: "new", model: try ManagedObjectModel(Base<V>.self, Owner<V>.self))
    var found: [String] = []
    try StoreLocation(url).check(registry: ModelRegistry(versions: [model])) { problem in
      #expect(problem.kind == .unreadableValue && problem.entity == "Owner" && problem.pk != nil, "\(problem)")
      found.append(problem.property ?? "")
    }
    #expect(found.sorted() == unreadable(shape, run).values.flatMap { $0 }.sorted())
  }

  private func check<V: Version>(
    _ version: V.Type, _ coordinator: PersistentStoreCoordinator, _ shape: Shape, _ run: Run
  ) throws {
    let context = ManagedObjectContext(coordinator)
    let objects = try context.fetch(FetchRequest<Owner<V>>("Owner"))
    #expect(objects.count == run.expected.count)
    var unreadable = 0
    for object in objects {
      #expect(object.missing == nil)
      let found = [
        "inherited": object.inherited.values, "optional": object.optional?.values, "text": object.text.values,
        "optionalText": object.optionalText?.values,
      ]
      for (name, expected) in run.expected[object.number, default: [:]] {
        for part in shape.parts {
          let value = found[name].flatMap { $0 }?[part.name] ?? .null
          #expect(value == expected.value(of: part, in: shape), "\(object.number).\(name).\(part)")
          if expected.isUnreadable(part, in: shape) { unreadable += 1 }
        }
      }
    }
    #expect(!context.hasChanges)
    guard unreadable > 0 else { return try context.save() }
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .typeMismatch)
    #expect(max(error?.errors.count ?? 0, 1) == min(unreadable, 100))
    for object in objects { _ = object.inherited }
    try context.save()
  }

  @Test(
    "Values of all former versions stay readable, and what isn't readable stays stored",
    .law("growing types", short: 25, long: 2000))
  func law() throws {
    forEachSeed { seed in
      var run = Run(random: SeededRandom(seed: seed))
      var shape = Shape()
      shape.parts = [Shape.Part(number: 0, name: "id", kind: .int, isOptional: false, standard: .integer(1))]
      for _ in 0..<Int.random(in: 1...4, using: &run.random) { shape.parts.append(run.part(shape)) }
      try withTemporaryStore { url in
        First.shape.withLock { $0 = shape }
        try use(First.self, at: url, after: nil, &run)
        let second = run.change(shape)
        Second.shape.withLock { $0 = second }
        try use(Second.self, at: url, after: shape, &run)
        let third = run.change(second)
        Third.shape.withLock { $0 = third }
        try use(Third.self, at: url, after: second, &run)
      }
    }
  }
}
