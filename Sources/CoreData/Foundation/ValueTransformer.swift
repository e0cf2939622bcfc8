public import Foundation
import Persist

/// The name of a transformer.
public struct NSValueTransformerName: RawRepresentable, Sendable, Hashable {
  /// The name as text.
  public let rawValue: String

  /// Creates a name from text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Creates a name from text.
  public init(_ rawValue: String) { self.init(rawValue: rawValue) }

  /// The transformer of keyed archives of property lists.
  public static let secureUnarchiveFromDataTransformerName = Self("NSSecureUnarchiveFromData")
  /// The transformer of keyed archives.
  public static let unarchiveFromDataTransformerName = Self("NSUnarchiveFromData")
  /// The transformer of keyed archives.
  public static let keyedUnarchiveFromDataTransformerName = Self("NSKeyedUnarchiveFromData")
}

// Unchecked: as on Apple's platforms, a transformer must be usable from every thread.
/// Converts values of transformable attributes to data and back.
///
/// Foundation has no such class outside of Apple's platforms.
open class ValueTransformer: NSObject, @unchecked Sendable {
  /// Creates a transformer.
  public required override init() { super.init() }

  /// The class of transformed values.
  open class func transformedValueClass() -> AnyClass { NSObject.self }
  /// Whether transformed values can be converted back.
  open class func allowsReverseTransformation() -> Bool { true }
  /// Returns the value for the store: `Data`.
  open func transformedValue(_ value: Any?) -> Any? { value }
  /// Returns the value for the application.
  open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }

  private static let registered = Locked<[String: ValueTransformer]>([:])

  /// Registers a transformer under a name, or removes it.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    registered.withLock { $0[name.rawValue] = transformer }
    if let transformer {
      AttributeTransformers.register(TransformerAdapter(transformer), named: name.rawValue)
    }
  }

  /// The names of registered transformers.
  open class func valueTransformerNames() -> [NSValueTransformerName] {
    registered.withLock { $0.keys.sorted().map { NSValueTransformerName($0) } }
  }

  /// Returns a registered transformer, or an instance of the class with the name.
  public convenience init?(forName name: NSValueTransformerName) {
    guard let found = Self.transformer(named: name.rawValue) else { return nil }
    self.init(creating: { unsafeDowncast(found, to: Self.self) })
  }

  fileprivate static func transformer(named name: String) -> ValueTransformer? {
    if let known = registered.withLock({ $0[name] }) { return known }
    guard let type = RuntimeTypes.type(named: name, inheritingFrom: ValueTransformer.self) else { return nil }
    let transformer = type.init()
    setValueTransformer(transformer, forName: NSValueTransformerName(name))
    return transformer
  }

  /// Registers the transformers that a model's attributes name by their classes.
  static func registerTransformers(of model: ManagedObjectModel) {
    for entity in model.entities {
      for attribute in entity.attributes {
        guard let name = attribute.valueTransformerName, AttributeTransformers.transformer(named: name) == nil else {
          continue
        }
        _ = transformer(named: name)
      }
    }
  }
}

extension ValueTransformer: SubclassCreating {}

// Unchecked: it has no state; its class requires it.
/// Turns lists, dictionaries and other values that archives may contain into data.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
  /// The classes of values that may be archived.
  open class var allowedTopLevelClasses: [AnyClass] { [NSArray.self, NSDictionary.self, NSString.self, NSNumber.self] }

  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? AttributeTransformers.transformer(named: "")?.value(from: data)
  }

  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    return try? AttributeTransformers.transformer(named: "")?.data(from: value)
  }

  // Reversed: the transformer's output is the object, its input the archived data.
  fileprivate var isReversed: Bool { true }
}

/// A transformer as Persist asks it.
private struct TransformerAdapter: AttributeTransformer {
  private let transformer: ValueTransformer

  init(_ transformer: ValueTransformer) { self.transformer = transformer }

  func data(from value: Any) throws -> Data {
    let data =
      transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
    switch data {
    case let data as Data: return data
    case let data as NSData: return Data(referencing: data)
    default:
      throw PersistenceError(
        .typeMismatch, "\(type(of: transformer)) returned no data for a \(type(of: value)).",
        fix: "Return Data from transformedValue(_:).")
    }
  }

  func value(from data: Data) throws -> Any {
    let value =
      transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
    guard let value else {
      throw PersistenceError(.typeMismatch, "\(type(of: transformer)) returned no value for its data.")
    }
    return value
  }
}
