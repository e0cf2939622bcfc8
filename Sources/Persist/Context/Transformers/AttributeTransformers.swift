import Foundation

/// The transformers of transformable attributes, and the types that keyed archives may hold.
///
/// Nothing in a store chooses a type that is made: a transformer is found by the model's name for it among those that
/// were registered, and an archive is read with property-list values and registered types alone.
///
/// | transformer that the attribute names | values |
/// |---|---|
/// | none, or one of Core Data's such as `NSSecureUnarchiveFromData` | those of keyed archives |
/// | one that was registered | whatever it makes of the bytes |
/// | another one | the bytes themselves, as `Data` |
///
/// Keyed archives, which Core Data reads and writes too, hold texts, numbers, truth values, dates, data, UUIDs, URLs,
/// lists, sets, dictionaries with texts as keys, and types that were registered.
public enum AttributeTransformers {
  private static let transformers = Guarded<[String: any AttributeTransformer]>([:])

  /// Registers a transformer for the whole process; one of the same name is replaced.
  public static func register(_ transformer: any AttributeTransformer, named name: String) {
    transformers.withLock { $0[name] = transformer }
  }

  /// Lets keyed archives hold values of a type, under a name that stands in the archive as the class's.
  ///
  /// ```swift
  /// struct Colour: Codable, Sendable { var red, green, blue: Double }
  /// AttributeTransformers.register(Colour.self)
  /// item["colour"] = Colour(red: 1, green: 0, blue: 0)
  /// ```
  ///
  /// - Parameter name: nil for the type's own, without its module.
  public static func register<Value: Codable & Sendable>(_ type: Value.Type, named name: String? = nil) {
    ArchivedTypes.register(type, named: name ?? String(describing: type))
  }

  /// Nil where the attribute's transformer isn't registered.
  static func transformer(of attribute: AttributeDescription) -> (any AttributeTransformer)? {
    transformer(named: attribute.valueTransformerName ?? "")
  }

  /// The transformer of a name that attributes use; nil where none is registered.
  ///
  /// - Parameter name: empty, or one of Core Data's own, for keyed archives.
  public static func transformer(named name: String) -> (any AttributeTransformer)? {
    if let registered = transformers.withLock({ $0[name] }) { return registered }
    return archiving.contains(name) ? KeyedArchiveTransformer() : nil
  }

  /// The names that Core Data's own transformers for keyed archives have.
  private static let archiving: Set<String> = [
    "", "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
    "NSKeyedUnarchiveFromDataTransformerName",
  ]
}

/// The transformer of attributes that name none of their own.
struct KeyedArchiveTransformer: AttributeTransformer {
  func data(from value: Any) throws -> Data { try KeyedArchiveWriter.archive(value) }
  func value(from data: Data) throws -> Any { try KeyedArchiveReader.value(in: data) }
}

extension StoredValue {
  /// A value in the form that a transformable attribute without a transformer of its own has in a store, for its
  /// default.
  ///
  /// ```swift
  /// AttributeDescription("keywords", .transformable, default: try .archived(["new"]))
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/typeMismatch`` where the value is of a type that wasn't registered.
  public static func archived(_ value: Any) throws -> StoredValue { .data(try KeyedArchiveWriter.archive(value)) }
}
