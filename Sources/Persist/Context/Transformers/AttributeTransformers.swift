import Foundation

/// The transformers of transformable attributes, and the types that keyed archives may contain.
///
/// A store can't choose the types to instantiate: transformers are looked up by the model's name among the registered
/// ones, and archives are read with property-list values and registered types only.
///
/// | transformer named by the attribute | values |
/// |---|---|
/// | none, or one of Core Data's such as `NSSecureUnarchiveFromData` | those of keyed archives |
/// | a registered one | whatever it returns for the bytes |
/// | any other | the bytes themselves, as `Data` |
///
/// Keyed archives, which Core Data also reads and writes, can contain strings, numbers, Booleans, dates, data, UUIDs,
/// URLs, arrays, sets, dictionaries with string keys, and registered types.
public enum AttributeTransformers {
  private static let transformers = LockProtected<[String: any AttributeTransformer]>(Dictionary())

  /// Registers a transformer for the whole process, replacing any of the same name.
  public static func register(_ transformer: any AttributeTransformer, named name: String) {
    transformers.withLock { $0[name] = transformer }
  }

  /// Allows keyed archives to contain values of a type, with a name that identifies its class in the archive.
  ///
  /// ```swift
  /// struct Color: Codable, Sendable { var red, green, blue: Double }
  /// AttributeTransformers.register(Color.self)
  /// item["color"] = Color(red: 1, green: 0, blue: 0)
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type to allow.
  ///   - name: The name in archives; nil for the type's own, without its module.
  public static func register<Value: Codable & Sendable>(_ type: Value.Type, named name: String? = nil) {
    ArchivedTypes.register(type, named: name ?? String(describing: type))
  }

  /// Returns nil if the attribute's transformer isn't registered.
  static func transformer(of attribute: AttributeDescription) -> (any AttributeTransformer)? {
    transformer(named: attribute.valueTransformerName ?? "")
  }

  /// Returns the transformer with a name, or nil if none is registered.
  ///
  /// - Parameter name: The name that attributes use. Empty, or one of Core Data's own, for keyed archives.
  public static func transformer(named name: String) -> (any AttributeTransformer)? {
    if let registered = transformers.withLock({ $0[name] }) { return registered }
    return archiving.contains(name) ? KeyedArchiveTransformer() : nil
  }

  /// The names of Core Data's own transformers for keyed archives.
  private static let archiving: Set<String> = [
    "", "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
    "NSKeyedUnarchiveFromDataTransformerName",
  ]
}

/// The transformer of attributes that don't name one.
struct KeyedArchiveTransformer: AttributeTransformer {
  func data(from value: Any) throws -> Data { try KeyedArchiveWriter.archive(value) }
  func value(from data: Data) throws -> Any { try KeyedArchiveReader.value(in: data) }
}

extension StoredValue {
  /// Returns a value in the stored form of a transformable attribute without a custom transformer, for use as its
  /// default.
  /// ```swift
  /// AttributeDescription("keywords", .transformable, default: try .archived(["new"]))
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/typeMismatch`` if the value's type isn't registered.
  public static func archived(_ value: Any) throws -> StoredValue { .data(try KeyedArchiveWriter.archive(value)) }
}
