import Foundation

/// Reads the value of a keyed archive, restricted to property-list values and registered types.
struct KeyedArchiveReader {
  /// - Throws: ``PersistenceError/Code/malformedFile`` for data that isn't such an archive,
  ///   ``PersistenceError/Code/typeMismatch`` for an object of an unregistered class, and for a member of a set whose
  ///   type isn't hashable,
  ///   ``PersistenceError/Code/limitExceeded`` for excessive nesting.
  static func value(in data: Data) throws -> Any {
    try value(of: KeyedArchive(data: data, place: .unknown).root(), depth: 0)
  }

  private static func value(of object: ArchivedObject, depth: Int) throws -> Any {
    guard depth < KeyedArchiveWriter.depthLimit else {
      throw PersistenceError(
        .limitExceeded, at: object.place(),
        "The archive is nested more than \(KeyedArchiveWriter.depthLimit) levels deep.")
    }
    guard let name = object.className else { return try plain(object.value, object) }
    if let entry = ArchivedTypes.entry(named: name) {
      guard let content = try object.member("content") else { throw object.expected("The content", for: "content") }
      return try entry.decode(propertyList(value(of: content, depth: depth + 1), object))
    }
    if let text = try object.text { return text }
    if let elements = try object.elements {
      let members = try elements.map { try value(of: $0, depth: depth + 1) }
      guard object.isKind(of: "NSSet") else { return members }
      return Set(try members.map { try hashable($0, object) })
    }
    if let entries = try object.entries {
      return try entries.reduce(into: [String: Any]()) { result, entry in
        result[entry.name] = try value(of: entry.value, depth: depth + 1)
      }
    }
    return try scalar(of: object, className: name)
  }

  /// Converts a member of a set; arrays and dictionaries are hashable if all their elements are.
  private static func hashable(_ value: Any, _ set: ArchivedObject) throws -> AnyHashable {
    if let value = value as? AnyHashable { return value }
    if let elements = value as? [Any] { return AnyHashable(try elements.map { try hashable($0, set) }) }
    if let entries = value as? [String: Any] { return AnyHashable(try entries.mapValues { try hashable($0, set) }) }
    throw PersistenceError(
      .typeMismatch, at: set.place(),
      "The archive contains a set with a value of type \(type(of: value)), which isn't hashable.",
      fix: "Make the type Hashable.")
  }

  private static func scalar(of object: ArchivedObject, className: String) throws -> Any {
    switch className {
    case "NSDate":
      guard let time = object.value["NS.time"]?.doubleValue else { throw object.expected("A time", for: "NS.time") }
      return Date(timeIntervalSinceReferenceDate: time)
    case "NSData", "NSMutableData":
      guard let data = try object.member("NS.data")?.value.dataValue else {
        throw object.expected("Data", for: "NS.data")
      }
      return data
    case "NSUUID":
      guard let bytes = object.value["NS.uuidbytes"]?.dataValue, bytes.count == 16 else {
        throw object.expected("Sixteen bytes", for: "NS.uuidbytes")
      }
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    case "NSURL":
      guard let url = try object.url else { throw object.expected("A URL", for: "NS.relative") }
      return url
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
      guard let number = try object.decimal else { throw object.expected("A decimal number", for: "NS.mantissa") }
      return number
    case "NSNull": return NSNull()
    default:
      throw PersistenceError(
        .typeMismatch, at: object.place(),
        "The archive contains an object of class '\(className)', which isn't registered.",
        fix: "Register a Codable type of this name, or a transformer: AttributeTransformers.register.")
    }
  }

  private static func plain(_ value: PropertyList, _ object: ArchivedObject) throws -> Any {
    switch value {
    case .boolean(let value): value
    case .integer(let value): Int(exactly: value) ?? value
    case .unsigned(let value): value
    case .real(let value): value
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .array, .dictionary, .uid, .null:
      throw PersistenceError(.malformedFile, at: object.place(), "The archive has no object here.")
    }
  }

  /// Converts a value to the property list that a Codable type is decoded from.
  private static func propertyList(_ value: Any, _ object: ArchivedObject) throws -> PropertyList {
    switch value {
    case let value as Bool: .boolean(value)
    case let value as String: .string(value)
    case let value as any BinaryInteger:
      Int64(exactly: value).map(PropertyList.integer) ?? .unsigned(UInt64(clamping: value))
    case let value as Double: .real(value)
    case let value as Date: .date(value)
    case let value as Data: .data(value)
    case let value as [String: Any]: .dictionary(try value.mapValues { try propertyList($0, object) })
    case let value as [Any]: .array(try value.map { try propertyList($0, object) })
    default:
      throw PersistenceError(
        .malformedFile, at: object.place(), "A value of type \(type(of: value)) isn't the encoding of a Codable type.")
    }
  }
}
