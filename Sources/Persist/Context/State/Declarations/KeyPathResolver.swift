import Foundation

/// Resolves Swift key paths to property names.
///
/// A key path doesn't expose its components, so it is evaluated once on an object of its root's entity that records the
/// properties read. Results are cached.
///
/// ```swift
/// let paths = KeyPathResolver(model: model, classes: ["Item": Item.self, "Category": Category.self])
/// try paths.keys(of: \Item.category?.name)          // ["category", "name"]
/// ```
///
/// Not Sendable: each context has its own, ``ManagedObjectContext/keyPaths``.
@_documentation(visibility: internal)
public final class KeyPathResolver {
  private let layouts: EntityLayouts
  private let classes: [ManagedObject.Type]
  private var known: [Question: [String]] = Dictionary()

  private struct Question: Hashable {
    let layout: Int
    let keyPath: AnyKeyPath
  }

  init(layouts: EntityLayouts, classes: [ManagedObject.Type]) {
    self.layouts = layouts
    self.classes = classes
  }

  /// - Parameters:
  ///   - model: The model whose entities the key paths begin at.
  ///   - given: Classes by entity name; other entities use registered classes.
  public convenience init(model: ManagedObjectModel, classes given: [String: ManagedObject.Type] = [:]) {
    self.init(layouts: EntityLayouts(of: model), classes: ManagedObjectClasses.classes(of: model, given: given))
  }

  /// Returns the keys that a key path consists of; none for `\.self`.
  ///
  /// - Parameters:
  ///   - keyPath: A key path whose root is a managed object class.
  ///   - entity: The entity at the root of the key path; nil for that of the root class.
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` for a key path that computes something: one that reads no
  ///   property or several, or changes the value that it reads.
  public func keys(of keyPath: AnyKeyPath, from entity: Entity? = nil) throws -> [String] {
    let (type, layout) = try root(of: keyPath, entity)
    let question = Question(layout: layout.index, keyPath: keyPath)
    if let keys = known[question] { return keys }
    let keys = try record(keyPath, from: layout, as: type)
    known[question] = keys
    return keys
  }

  /// Returns the root class of a key path, and the layout of its entity.
  private func root(of keyPath: AnyKeyPath, _ entity: Entity?) throws -> (ManagedObject.Type, EntityLayout) {
    let rootType = Swift.type(of: keyPath).rootType
    guard let type = rootType as? ManagedObject.Type else {
      throw error(keyPath, "doesn't start at a managed object", fix: "Start it at a subclass of ManagedObject.")
    }
    if let entity, let layout = layouts.first(where: { $0.entity === entity }),
      classes[layout.index].isKind(of: rootType)
    {
      return (classes[layout.index], layout)
    }
    if let index = classes.firstIndex(where: { $0 == type }) { return (type, layouts[index]) }
    // A superclass without an entity: any entity of a subclass has its properties.
    if type != ManagedObject.self, let index = classes.firstIndex(where: { $0.isKind(of: rootType) }) {
      return (classes[index], layouts[index])
    }
    let name = String(describing: type)
    if let layout = layouts.first(where: { $0.entity.name == name }) { return (type, layout) }
    throw error(
      keyPath, "starts at \(name), which isn't the class of any entity of the model",
      fix: "Register the class, or pass it to the context under its entity's name.")
  }

  private func record(
    _ keyPath: AnyKeyPath, from layout: EntityLayout, as type: ManagedObject.Type
  ) throws -> [String] {
    let (value, recording) = run(keyPath, from: layout, as: type, wholeNumber: KeyPathRecording.wholeNumber)
    let keys = try keys(of: value, keyPath, in: recording)
    let reads = Set(recording.reads + recording.walked)
    if let other = reads.first(where: { !keys.starts(with: $0) }) {
      let names = reads.filter { !keys.starts(with: $0) } + (keys.isEmpty ? [] : [keys])
      throw error(
        keyPath, "reads several properties: \(Set(names.map(text)).sorted().joined(separator: ", "))",
        fix: "Compare \(text(other)) and the others one by one.")
    }
    guard recording.reads.contains(keys) else { return keys }
    if let elements = recording.elements(at: keys) {
      return try keys
        + element(of: elements, equalTo: value, keyPath: keyPath, keys: keys, samples: recording.samples) {
          run(keyPath, from: layout, as: type, wholeNumber: KeyPathRecording.wholeNumber, element: $0).0
        }
    }
    try check(value, is: keys, keyPath, in: recording)
    if value is any BinaryInteger {
      // A negative number distinguishes a magnitude from the number itself. Unsigned types read it as nil, which is 0.
      let (value, recording) = run(keyPath, from: layout, as: type, wholeNumber: -KeyPathRecording.wholeNumber)
      if value.flatMap(StoredValue.init(plain:)) != .integer(0) {
        try check(value, is: keys, keyPath, in: recording)
      }
    }
    return keys
  }

  /// Evaluates a key path on a recording object, and returns its unwrapped result and the recording.
  private func run(
    _ keyPath: AnyKeyPath, from layout: EntityLayout, as type: ManagedObject.Type, wholeNumber: Int64,
    element: KeyPathRecording.CompositeSample? = nil
  ) -> (Any?, KeyPathRecording) {
    let recording = KeyPathRecording(
      layouts: layouts, classes: classes, wholeNumber: wholeNumber, element: element)
    let root = recording.object(of: layout, as: type, at: [])
    let result: Any? = recording.record { root[keyPath: keyPath] }
    return (unwrapped(result ?? ()), recording)
  }

  /// Value types that no complete composite attribute has.
  private static let plainTypes: Set<ObjectIdentifier> = [
    ObjectIdentifier(String?.self), ObjectIdentifier(Bool?.self), ObjectIdentifier(Int?.self),
    ObjectIdentifier(Int16?.self), ObjectIdentifier(Int32?.self), ObjectIdentifier(Int64?.self),
    ObjectIdentifier(Double?.self), ObjectIdentifier(Float?.self), ObjectIdentifier(Decimal?.self),
    ObjectIdentifier(Date?.self), ObjectIdentifier(Data?.self), ObjectIdentifier(UUID?.self),
    ObjectIdentifier(URL?.self),
  ]

  /// Returns the path within a composite attribute that a key path leads to, based on the elements that affect its
  /// result.
  ///
  /// - Parameters:
  ///   - samples: Returns possible values of an element.
  ///   - given: Returns the result of the key path if an element has a value.
  /// - Returns: An empty path if the key path leads to the whole attribute.
  private func element(
    of elements: [Property.Element], equalTo value: Any?, keyPath: AnyKeyPath, keys: [String],
    samples: (AttributeDescription) -> [StoredValue], given: (KeyPathRecording.CompositeSample) -> Any?
  ) throws -> [String] {
    let base = String(reflecting: value)
    var leading: [[String]] = []
    var isComputed = false
    for element in elements {
      for sample in samples(element.attribute) {
        let result = given(KeyPathRecording.CompositeSample(path: element.path, value: sample))
        guard String(reflecting: result) != base else { continue }
        if leading.last != element.path { leading.append(element.path) }
        if let plain = result.flatMap(StoredValue.init(plain:)), plain != sample { isComputed = true }
      }
    }
    // The whole of an optional attribute, whose type can't be created from a single element.
    if leading.isEmpty, value == nil, !Self.plainTypes.contains(ObjectIdentifier(type(of: keyPath).valueType)) {
      return []
    }
    guard let first = leading.first, !isComputed else {
      throw error(
        keyPath,
        isComputed
          ? "computes a value from \(text(keys))" : "reads a part of \(text(keys)) that can't be identified",
        fix: "Name the part in a format string, such as 'address.city', or read it in a closure.")
    }
    let shared = leading.dropFirst().reduce(first) { path, other in
      Array(zip(path, other).prefix { $0 == $1 }.map(\.0))
    }
    return Array(shared.dropFirst())
  }

  /// Returns the keys to the unwrapped result of a key path.
  private func keys(of result: Any?, _ keyPath: AnyKeyPath, in recording: KeyPathRecording) throws
    -> [String]
  {
    if let object = result as? ManagedObject, let keys = recording.keys(to: object) { return keys }
    if let members = result as? any RecordedMembers, let owner = members.recordedOwner,
      let keys = recording.keys(to: owner)
    {
      return keys + [members.relationshipName]
    }
    if let id = result as? ManagedObjectID, let keys = recording.keys(toObjectWith: id) { return keys + ["objectID"] }
    if let walked = recording.walked.last {
      guard result is Int else {
        throw error(
          keyPath, "reads the members of \(text(walked))",
          fix: "Compare the count, or use a closure with 'contains(where:)', 'allSatisfy' or 'isEmpty'.")
      }
      return walked + ["@count"]
    }
    guard let keys = recording.reads.last else {
      throw error(keyPath, "reads no property of the entity", fix: "Predicates can only use stored values.")
    }
    return keys
  }

  /// Rejects a key path that changes the value that it reads, as `\.name.count` and `\.quantity.magnitude` do.
  private func check(_ result: Any?, is keys: [String], _ keyPath: AnyKeyPath, in recording: KeyPathRecording)
    throws
  {
    guard let result, let value = StoredValue(plain: result) else { return }
    guard let sample = recording.sample(at: keys), sample == value else {
      throw error(
        keyPath, "computes a value from \(text(keys))",
        fix: "Compare the property itself, or use an expression function that the store can compute.")
    }
  }

  private func unwrapped(_ value: Any) -> Any? {
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return value }
    return mirror.children.first.flatMap { unwrapped($0.value) }
  }

  private func text(_ keys: [String]) -> String { keys.joined(separator: ".") }

  private func error(_ keyPath: AnyKeyPath, _ what: String, fix: String) -> PersistenceError {
    PersistenceError(.invalidPredicate, "The key path \(keyPath) \(what).", fix: fix)
  }
}

extension KeyPathRecording {
  /// Returns the elements of the composite attribute at a key path; nil for any other attribute.
  fileprivate func elements(at keys: [String]) -> [Property.Element]? {
    guard let owner = object(at: Array(keys.dropLast())), let name = keys.last,
      let property = owner.entity.property(named: name), property.attribute?.type == .composite
    else { return nil }
    return property.elements
  }

  /// Returns the sample value of the attribute at a key path.
  fileprivate func sample(at keys: [String]) -> StoredValue? {
    guard let owner = object(at: Array(keys.dropLast())), let name = keys.last else { return nil }
    return owner.entity.attribute(named: name).flatMap(sample)
  }
}

extension ManagedObject {
  /// Whether the class equals or inherits from another.
  fileprivate static func isKind(of other: any Any.Type) -> Bool {
    func holds<Other>(_ other: Other.Type) -> Bool { self is Other.Type }
    return holds(other)
  }
}

/// The members of a relationship as returned by a class's property.
package protocol RecordedMembers {
  var recordedOwner: ManagedObject? { get }
  var relationshipName: String { get }
}

extension StoredValue {
  /// Creates a value from one of the plain types of attributes; nil for other types, such as an application's enum.
  fileprivate init?(plain value: Any) {
    switch value {
    case let value as Bool: self = .boolean(value)
    case let value as any BinaryInteger: self = .integer(Int64(clamping: value))
    case let value as Double: self = .double(value)
    case let value as Float: self = .double(Double(value))
    case let value as Decimal: self = .decimal(value)
    case let value as String: self = .string(value)
    case let value as Date: self = .date(value)
    case let value as Data: self = .data(value)
    case let value as UUID: self = .uuid(value)
    case let value as URL: self = .uri(value.absoluteString)
    default: return nil
    }
  }
}
