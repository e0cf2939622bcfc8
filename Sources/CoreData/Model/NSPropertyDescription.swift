public import Foundation
import Persist

// Unchecked: a description is changed only until a coordinator uses its model.
/// A property of an entity.
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
  /// The name.
  open var name = "" { didSet { recordChange() } }
  /// Whether the property may have no value.
  open var isOptional = true { didSet { recordChange() } }
  /// Whether the property exists in memory only.
  open var isTransient = false { didSet { recordChange() } }
  /// Data of the application's own.
  open var userInfo: [AnyHashable: Any]? { didSet { recordChange() } }
  /// The name in an older version.
  open var renamingIdentifier: String? { didSet { recordChange() } }
  /// A text that changes the property's hash.
  open var versionHashModifier: String? { didSet { recordChange() } }
  /// Whether Spotlight indexes the property. Without effect here.
  open var isIndexedBySpotlight = false { didSet { recordChange() } }
  /// Whether the property has an index of its own.
  open var isIndexed = false { didSet { recordChange() } }
  /// Whether the value is in Spotlight's record of the object. Without effect here.
  open var isStoredInExternalRecord = false
  /// The hash of the property and its entity, by which stores recognize their model.
  open var versionHash: Data {
    guard let hash = entity?.versionHash else { return Data() }
    return hash + Data(name.utf8)
  }
  /// The rules for values.
  open var validationPredicates: [NSPredicate] { rules.map(\.predicate) }
  /// The messages of the rules.
  open var validationWarnings: [Any] { rules.map { $0.warning as Any } }
  /// The entity that declares the property.
  public private(set) weak var entity: NSEntityDescription!
  private(set) var rules: [(predicate: NSPredicate, warning: String?)] = [] { didSet { recordChange() } }

  /// Creates a description.
  public required override init() { super.init() }

  /// Sets the rules for values and their messages.
  open func setValidationPredicates(_ predicates: [NSPredicate]?, withValidationWarnings warnings: [String]?) {
    rules = (predicates ?? []).enumerated().map { index, predicate in
      (predicate, warnings.flatMap { $0.indices.contains(index) ? $0[index] : nil })
    }
  }

  func join(_ entity: NSEntityDescription?) { self.entity = entity }

  func recordChange() { entity?.recordChange() }

  /// Returns a copy that belongs to no entity.
  open func copy(with zone: NSZone? = nil) -> Any {
    let other = type(of: self).init()
    copy(to: other)
    return other
  }

  func copy(to other: NSPropertyDescription) {
    other.name = name
    other.isOptional = isOptional
    other.isTransient = isTransient
    other.userInfo = userInfo
    other.renamingIdentifier = renamingIdentifier
    other.versionHashModifier = versionHashModifier
    other.isIndexed = isIndexed
    other.isIndexedBySpotlight = isIndexedBySpotlight
    other.rules = rules
  }

  var texts: [String: String] {
    var texts: [String: String] = [:]
    for (key, value) in userInfo ?? [:] { texts["\(key)"] = "\(value)" }
    return texts
  }

  open override var description: String { "<\(type(of: self)) \(entity?.name ?? "").\(name)>" }
}

/// The type of an attribute.
public enum NSAttributeType: UInt, Sendable {
  /// No type; for transient attributes.
  case undefinedAttributeType = 0
  /// A signed integer of 16 bits.
  case integer16AttributeType = 100
  /// A signed integer of 32 bits.
  case integer32AttributeType = 200
  /// A signed integer of 64 bits.
  case integer64AttributeType = 300
  /// A decimal number.
  case decimalAttributeType = 400
  /// A floating-point number of 64 bits.
  case doubleAttributeType = 500
  /// A floating-point number of 32 bits.
  case floatAttributeType = 600
  /// Text.
  case stringAttributeType = 700
  /// A truth value.
  case booleanAttributeType = 800
  /// A point in time.
  case dateAttributeType = 900
  /// Bytes.
  case binaryDataAttributeType = 1000
  /// A UUID.
  case UUIDAttributeType = 1100
  /// A URI.
  case URIAttributeType = 1200
  /// A value that a transformer converts to bytes.
  case transformableAttributeType = 1800
  /// An object's identifier; only for columns of requests.
  case objectIDAttributeType = 2000
  /// Several attributes under one name.
  case compositeAttributeType = 2100
}

