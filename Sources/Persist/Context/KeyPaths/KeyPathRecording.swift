import Foundation

/// What a key path touches on its way through recording objects.
///
/// Recording objects are faults without a context, so that reading them takes the slow path that reading a fault
/// takes, and nothing else pays for them.
///
/// `@unchecked Sendable`: made, used and dropped within one synchronous call, and seen by that call's task alone.
final class KeyPathRecording: @unchecked Sendable {
  /// The recording that the current task runs a key path for.
  @TaskLocal static var current: KeyPathRecording?

  /// Keys from the root to every attribute and object that was read.
  private(set) var reads: [[String]] = []
  /// Keys from the root to every collection whose members were asked for.
  private(set) var walked: [[String]] = []
  private var objects: [(object: ManagedObject, keys: [String])] = []
  private let layouts: [EntityLayout]
  private let classes: [ManagedObject.Type]

  /// What attributes of whole numbers have.
  private let wholeNumber: Int64

  /// The element that composite attributes have; nil for none.
  private let element: CompositeSample?

  /// A value of an element of a composite attribute.
  struct CompositeSample {
    /// Begins with the attribute's name.
    let path: [String]
    let value: StoredValue
  }

  /// Fits into every type of whole numbers.
  static let wholeNumber: Int64 = 101

  init(
    layouts: [EntityLayout], classes: [ManagedObject.Type], wholeNumber: Int64, element: CompositeSample? = nil
  ) {
    self.wholeNumber = wholeNumber
    self.element = element
    self.layouts = layouts
    self.classes = classes
  }

  /// A recording object, at the end of some keys from the root.
  func object(of layout: EntityLayout, as type: ManagedObject.Type, at keys: [String]) -> ManagedObject {
    let slotTable = layout.slotTable(of: type)
    let origin = ManagedObject.Origin(
      layout: .passUnretained(layout), loading: .fault, slotTable: .passUnretained(slotTable))
    let object = type.init(origin)
    object.pending = ContiguousArray(
      layout.properties.map { sample($0, initial: slotTable.initialValue(at: $0.slot)) })
    objects.append((object, keys))
    return object
  }

  /// The keys from the root to a recording object.
  func keys(to object: ManagedObject) -> [String]? { objects.first { $0.object === object }?.keys }

  /// The recording object at the end of some keys from the root.
  func object(at keys: [String]) -> ManagedObject? { objects.first { $0.keys == keys }?.object }

  /// The keys from the root to the object that has an identifier.
  func keys(toObjectWith id: ManagedObjectID) -> [String]? { objects.first { $0.object.identifier == id }?.keys }

  func noteRead(_ slot: Int, of object: ManagedObject) {
    guard let keys = keys(to: object) else { return }
    reads.append(keys + [object.layout.properties[slot].name])
  }

  func noteWalk(_ relationship: RelationshipLayout, of object: ManagedObject) {
    guard let keys = keys(to: object) else { return }
    walked.append(keys + [relationship.name])
  }

  /// The object at the other end of a to-one relationship.
  func destination(of slot: Int, of object: ManagedObject) -> ManagedObject? {
    guard let keys = keys(to: object), let relationship = object.layout.relationshipsBySlot[slot] else { return nil }
    let path = keys + [relationship.name]
    reads.append(path)
    if let known = self.object(at: path) { return known }
    let index = relationship.destinationIndex
    return self.object(of: layouts[index], as: classes[index], at: path)
  }

  /// The value that a property of a recording object has.
  ///
  /// - Parameter initial: what a new object has. A composite attribute has that, but for the one element that is given:
  ///   a type may refuse samples of others, as an enum does.
  private func sample(_ property: Property, initial: StoredValue?) -> StoredValue? {
    guard let attribute = property.attribute, attribute.type == .composite else {
      return property.attribute.flatMap(sample)
    }
    guard let element, element.path.first == property.name else { return initial ?? .composite([:]) }
    return (initial ?? .composite([:])).replacing(element.path.dropFirst(), with: element.value)
  }

  /// Two values of an attribute, one of which at least isn't what a new object has.
  func samples(_ attribute: AttributeDescription) -> [StoredValue] {
    let other: StoredValue? =
      switch attribute.type {
      case .boolean: .boolean(false)
      case .string: .string("\u{FFFC}Other value")
      default: nil
      }
    return [sample(attribute), other].compactMap { $0 }
  }

  /// The value that an attribute of a recording object has. A key path that gives another one computes something.
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
    default: nil
    }
  }
}

extension StoredValue {
  /// A composite value with another value of an element.
  fileprivate func replacing(_ path: ArraySlice<String>, with value: StoredValue) -> StoredValue {
    guard let name = path.first else { return value }
    var elements: [String: StoredValue] = if case .composite(let elements) = self { elements } else { [:] }
    elements[name] = (elements[name] ?? .null).replacing(path.dropFirst(), with: value)
    return .composite(elements)
  }
}

extension ManagedObject {
  /// What using a property of a fault begins with.
  final func fulfil(reading slot: Int) {
    guard table == nil else { return fulfil() }
    if let recording = KeyPathRecording.current { return recording.noteRead(slot, of: self) }
    if snapshot == nil, pending.isEmpty || pending[slot] == nil { noteEmptyAnswer(at: slot) }
  }
}
