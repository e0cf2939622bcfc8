import Foundation
import Synchronization

/// Records the properties that a key path accesses on recording objects.
///
/// Recording objects are faults without a context, so that accessing them takes the slow path of a fault, and other
/// objects incur no cost.
///
/// `@unchecked Sendable`: created, used and released in one synchronous call, and visible to that call's task only.
final class KeyPathRecording: @unchecked Sendable {
  @TaskLocal private static var running: KeyPathRecording?
  /// Whether a key path was ever recorded: the first use of a task's value of a type takes 25,000 instructions.
  private static let hasRun = Atomic(false)
  /// The recording for which the current task evaluates a key path. A relaxed load suffices: whoever has a recording
  /// set the flag before.
  static var current: KeyPathRecording? { hasRun.load(ordering: .relaxed) ? running : nil }

  /// Records what `body` reads.
  func record<T>(_ body: () throws -> T) rethrows -> T {
    Self.hasRun.store(true, ordering: .relaxed)
    return try Self.$running.withValue(self, operation: body)
  }

  /// The key paths from the root to every attribute and object that was read.
  private(set) var reads: [[String]] = []
  /// The key paths from the root to every collection whose members were accessed.
  private(set) var walked: [[String]] = []
  private var objects: [(object: ManagedObject, keys: [String])] = []
  private let layouts: EntityLayouts
  private let classes: [ManagedObject.Type]

  /// The value of integer attributes.
  private let wholeNumber: Int64

  /// The sample element of composite attributes; nil for none.
  private let element: CompositeSample?

  /// A sample value for an element of a composite attribute.
  struct CompositeSample {
    /// The path, starting with the attribute's name.
    let path: [String]
    let value: StoredValue
  }

  /// A value that fits every integer type.
  static let wholeNumber: Int64 = 101

  init(
    layouts: EntityLayouts, classes: [ManagedObject.Type], wholeNumber: Int64, element: CompositeSample? = nil
  ) {
    self.wholeNumber = wholeNumber
    self.element = element
    self.layouts = layouts
    self.classes = classes
  }

  /// Creates a recording object at a key path from the root.
  func object(of layout: EntityLayout, as type: ManagedObject.Type, at keys: [String]) -> ManagedObject {
    let slotTable = layout.slotTable(of: type)
    let kind = ObjectKind(layout, type: type, slotTable: slotTable)
    let object = withExtendedLifetime(kind) {
      type.init(ManagedObject.Origin(kind: .passUnretained(kind), loading: .fault))
    }
    object.replacePending(
      with: SlotValues(layout.properties.map { sample($0, initial: slotTable.initialValue(at: $0.slot)) }))
    objects.append((object, keys))
    return object
  }

  /// Returns the key path from the root to a recording object.
  func keys(to object: ManagedObject) -> [String]? { objects.first { $0.object === object }?.keys }

  /// Returns the recording object at a key path from the root.
  func object(at keys: [String]) -> ManagedObject? { objects.first { $0.keys == keys }?.object }

  /// Returns the key path from the root to the object with an identifier.
  func keys(toObjectWith id: ManagedObjectID) -> [String]? { objects.first { $0.object.identifier == id }?.keys }

  func recordRead(_ slot: Int, of object: ManagedObject) {
    guard let keys = keys(to: object) else { return }
    reads.append(keys + [object.layout.properties[slot].name])
  }

  func recordWalk(_ relationship: RelationshipLayout, of object: ManagedObject) {
    guard let keys = keys(to: object) else { return }
    walked.append(keys + [relationship.name])
  }

  /// Returns the destination of a to-one relationship.
  func destination(of slot: Int, of object: ManagedObject) -> ManagedObject? {
    guard let keys = keys(to: object), let relationship = object.layout.relationshipsBySlot[slot] else { return nil }
    let path = keys + [relationship.name]
    reads.append(path)
    if let known = self.object(at: path) { return known }
    let index = relationship.destinationIndex
    return self.object(of: layouts[index], as: classes[index], at: path)
  }

  /// Returns the value of a property of a recording object.
  ///
  /// - Parameter initial: The initial value of a new object. A composite attribute has this value except for the sample
  ///   element: a type may reject samples of others, as an enum does.
  private func sample(_ property: Property, initial: StoredValue?) -> StoredValue? {
    guard let attribute = property.attribute, attribute.type == .composite else {
      return property.attribute.flatMap(sample)
    }
    guard let element, element.path.first == property.name else { return initial ?? .composite(Dictionary()) }
    return (initial ?? .composite(Dictionary())).replacing(element.path.dropFirst(), with: element.value)
  }

  /// Returns up to two sample values of an attribute; of two, at least one differs from the initial value.
  func samples(_ attribute: AttributeDescription) -> [StoredValue] {
    let other: StoredValue? =
      switch attribute.type {
      case .boolean: .boolean(false)
      case .string: .string("\u{FFFC}Other value")
      default: nil
      }
    return [sample(attribute), other].compactMap { $0 }
  }

  /// Returns the sample value of an attribute. A key path with a different result computes something.
  func sample(_ attribute: AttributeDescription) -> StoredValue? {
    switch attribute.type {
    case .int16, .int32, .int64: .integer(wholeNumber)
    case .boolean: .boolean(true)
    case .double, .float: .double(-12_321.625)
    case .decimal: .decimal(Decimal(-12_321.625))
    case .string: .string("\u{FFFC}Recorded value")
    case .date: .date(Date(timeIntervalSinceReferenceDate: -12_321.625))
    case .binary: .data(Data("Recorded value".utf8))
    case .uuid: .uuid(UUID(uuid: (1, 2, 3, 2, 1, 1, 2, 3, 2, 1, 1, 2, 3, 2, 1, 0)))
    case .uri: .uri("recorded:value")
    case .transformable, .composite, .objectID, .undefined: nil
    }
  }
}
