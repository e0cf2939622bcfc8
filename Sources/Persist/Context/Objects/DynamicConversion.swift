import Foundation

/// Conversions between what a program says dynamically, `Any?`, and stored values.
///
/// | attribute type | given | taken |
/// |---|---|---|
/// | `int16 int32 int64` | `Int`, or `Int64` where `Int` is too small | every integer type within the range |
/// | `boolean` | `Bool` | `Bool` |
/// | `double float` | `Double` | every floating-point and integer type |
/// | `decimal` | `Decimal` | `Decimal` and every integer type |
/// | `string` | `String` | `String`, `Substring` |
/// | `date` | `Date` | `Date` |
/// | `binary transformable` | `Data` | `Data`, `[UInt8]` |
/// | `uuid` | `UUID` | `UUID` |
/// | `uri` | `URL`, or `String` where `URL` refuses the text | `URL`, `String` |
/// | `composite` | `[String: Any]` | `[String: Any]` with the elements' types |
/// | `undefined` | by the value | values of all the types above but composites |
///
/// A ``StoredValue`` of the type's case is always taken.
struct DynamicConversion {
  let attribute: AttributeDescription
  let place: PersistError.Place

  static func any(_ value: StoredValue) -> Any? {
    switch value {
    case .null: nil
    case .boolean(let value): value
    case .integer(let value): Int(exactly: value) ?? value
    case .double(let value): value
    case .decimal(let value): value
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .uri(let value): URL(string: value) ?? value
    case .objectID(let value): value
    case .composite(let elements): elements.compactMapValues(any)
    }
  }

  /// The stored form of what nearly every program gives: nothing, or exactly the Swift type of the attribute's type;
  /// nil for all else, which ``stored(_:)`` looks at. Neither the attribute nor a place for errors is needed.
  static func plain(_ value: Any?, as type: AttributeType) -> StoredValue? {
    guard let value else { return .null }
    return switch type {
    case .boolean: exactly(value, Bool.self).map(StoredValue.boolean)
    case .int16: exactly(value, Int.self).flatMap(Int16.init(exactly:)).map { .integer(Int64($0)) }
    case .int32: exactly(value, Int.self).flatMap(Int32.init(exactly:)).map { .integer(Int64($0)) }
    case .int64: exactly(value, Int.self).map { .integer(Int64($0)) }
    case .double: exactly(value, Double.self).map(StoredValue.double)
    case .string: exactly(value, String.self).map(StoredValue.string)
    case .date: exactly(value, Date.self).map(StoredValue.date)
    case .binary: exactly(value, Data.self).map(StoredValue.data)
    case .uuid: exactly(value, UUID.self).map(StoredValue.uuid)
    default: nil
    }
  }

  /// The type is compared first: a cast that fails looks for ways between the types.
  private static func exactly<T>(_ value: Any, _ wanted: T.Type) -> T? {
    type(of: value) == wanted ? value as? T : nil
  }

  /// - Throws: ``PersistError/Code/typeMismatch`` where the attribute doesn't take such a value.
  func stored(_ value: Any?) throws -> StoredValue {
    guard let value = Self.unwrapped(value) else { return .null }
    if let stored = value as? StoredValue {
      guard stored.isNull || isOfType(stored) else { throw mismatch(value) }
      return stored
    }
    switch attribute.type {
    case .int16, .int32, .int64: return .integer(try integer(value))
    case .boolean: if let value = value as? Bool { return .boolean(value) }
    case .double: if let value = Self.double(value) { return .double(value) }
    // A float's column is eight bytes wide; what is beyond a float's precision must not come back.
    case .float: if let value = Self.double(value) { return .double(Double(Float(value))) }
    case .decimal:
      if let value = value as? Decimal { return .decimal(value) }
      if let value = Self.integer(value) { return .decimal(Decimal(value)) }
    case .string:
      if let value = value as? String { return .string(value) }
      if let value = value as? Substring { return .string(String(value)) }
    case .date: if let value = value as? Date { return .date(value) }
    case .binary, .transformable:
      if let value = value as? Data { return .data(value) }
      if let value = value as? [UInt8] { return .data(Data(value)) }
    case .uuid: if let value = value as? UUID { return .uuid(value) }
    case .uri:
      if let value = value as? URL { return .uri(value.absoluteString) }
      if let value = value as? String { return .uri(value) }
    case .objectID: if let value = value as? ManagedObjectID { return .objectID(value) }
    case .undefined: if let stored = Self.stored(ofOwnType: value) { return stored }
    case .composite: break
    }
    throw mismatch(value)
  }

  /// The value of an attribute without a type, by the value's own.
  private static func stored(ofOwnType value: Any) -> StoredValue? {
    switch value {
    case let value as Bool: .boolean(value)
    case let value as String: .string(value)
    case let value as Date: .date(value)
    case let value as Data: .data(value)
    case let value as UUID: .uuid(value)
    case let value as URL: .uri(value.absoluteString)
    case let value as Decimal: .decimal(value)
    case let value as any BinaryInteger: Int64(exactly: value).map(StoredValue.integer)
    case let value as any BinaryFloatingPoint: .double(Double(value))
    default: nil
    }
  }

  /// A value for a composite attribute.
  func stored(_ value: Any?, elements: [Property.Element]) throws -> StoredValue {
    guard let value = Self.unwrapped(value) else { return .null }
    if case .composite(let parts)? = value as? StoredValue { return .composite(parts) }
    guard let parts = value as? [String: Any] else { throw mismatch(value) }
    return .composite(try composite(parts, below: [attribute.name], elements: elements))
  }

  private func composite(
    _ parts: [String: Any], below path: [String], elements: [Property.Element]
  ) throws -> [String: StoredValue] {
    try parts.reduce(into: [:]) { result, part in
      let inner = path + [part.key]
      if let element = elements.first(where: { $0.path == inner }) {
        result[part.key] = try DynamicConversion(attribute: element.attribute, place: place).stored(part.value)
      } else if let nested = part.value as? [String: Any], elements.contains(where: { $0.path.starts(with: inner) }) {
        result[part.key] = .composite(try composite(nested, below: inner, elements: elements))
      } else {
        let names = elements.map { $0.path.dropFirst().joined(separator: ".") }
        throw PersistError(
          .unknownProperty, at: place, "The composite '\(attribute.name)' has no element '\(part.key)'.",
          fix: "Its elements are \(names.joined(separator: ", ")).")
      }
    }
  }

  private func integer(_ value: Any) throws -> Int64 {
    guard !(value is Bool), let number = Self.integer(value) else { throw mismatch(value) }
    let range: ClosedRange<Int64> =
      switch attribute.type {
      case .int16: Int64(Int16.min)...Int64(Int16.max)
      case .int32: Int64(Int32.min)...Int64(Int32.max)
      default: Int64.min...Int64.max
      }
    guard range.contains(number) else {
      throw PersistError(
        .typeMismatch, at: place,
        "\(number) doesn't fit into the type \(attribute.type.rawValue) of '\(attribute.name)'.",
        fix: "Give it a number from \(range.lowerBound) to \(range.upperBound), or the attribute a larger type.")
    }
    return number
  }

  private func isOfType(_ value: StoredValue) -> Bool {
    switch (value, attribute.type) {
    case (.integer, .int16), (.integer, .int32), (.integer, .int64), (.boolean, .boolean), (.double, .double),
      (.double, .float), (.decimal, .decimal), (.string, .string), (.date, .date), (.data, .binary),
      (.data, .transformable), (.uuid, .uuid), (.uri, .uri), (.objectID, .objectID), (_, .undefined):
      true
    default: false
    }
  }

  private func mismatch(_ value: Any) -> PersistError {
    PersistError(
      .typeMismatch, at: place,
      "'\(attribute.name)' is \(attribute.type.rawValue) and doesn't take a \(type(of: value)).")
  }

  /// Takes the value out of optionals inside the optional.
  static func unwrapped(_ value: Any?) -> Any? {
    guard let value else { return nil }
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return value }
    return unwrapped(mirror.children.first?.value)
  }

  private static func integer(_ value: Any) -> Int64? {
    (value as? any BinaryInteger).flatMap { Int64(exactly: $0) }
  }

  private static func double(_ value: Any) -> Double? {
    switch value {
    case let value as Double: value
    case let value as any BinaryFloatingPoint: Double(value)
    case let value as any BinaryInteger: Double(value)
    default: nil
    }
  }
}
