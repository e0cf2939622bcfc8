public import Foundation
import Persist

/// A property of an entity.
// Unchecked: a description is changed only until a coordinator uses its model.
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
  open var name = "" { didSet { noteChange() } }
  open var isOptional = true { didSet { noteChange() } }
  open var isTransient = false { didSet { noteChange() } }
  open var userInfo: [AnyHashable: Any]? { didSet { noteChange() } }
  open var renamingIdentifier: String? { didSet { noteChange() } }
  open var versionHashModifier: String? { didSet { noteChange() } }
  open var isIndexedBySpotlight = false { didSet { noteChange() } }
  open var isIndexed = false { didSet { noteChange() } }
  open var validationPredicates: [NSPredicate] { rules.map(\.predicate) }
  open var validationWarnings: [Any] { rules.map { $0.warning as Any } }
  public private(set) weak var entity: NSEntityDescription?
  private(set) var rules: [(predicate: NSPredicate, warning: String?)] = [] { didSet { noteChange() } }

  public required override init() { super.init() }

  open func setValidationPredicates(_ predicates: [NSPredicate]?, withValidationWarnings warnings: [String]?) {
    rules = (predicates ?? []).enumerated().map { index, predicate in
      (predicate, warnings.flatMap { $0.indices.contains(index) ? $0[index] : nil })
    }
  }

  func join(_ entity: NSEntityDescription?) { self.entity = entity }

  func noteChange() { entity?.noteChange() }

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

public enum NSAttributeType: UInt, Sendable {
  case undefinedAttributeType = 0
  case integer16AttributeType = 100
  case integer32AttributeType = 200
  case integer64AttributeType = 300
  case decimalAttributeType = 400
  case doubleAttributeType = 500
  case floatAttributeType = 600
  case stringAttributeType = 700
  case booleanAttributeType = 800
  case dateAttributeType = 900
  case binaryDataAttributeType = 1000
  case UUIDAttributeType = 1100
  case URIAttributeType = 1200
  case transformableAttributeType = 1800
  case objectIDAttributeType = 2000
  case compositeAttributeType = 2100
}

