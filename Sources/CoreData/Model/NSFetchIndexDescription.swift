public import Foundation
import Persist

public enum NSFetchIndexElementType: UInt, Sendable {
  case binary = 0
  case rTree = 1
}

// Unchecked: a description is changed only until a coordinator uses its model.
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
  public let property: NSPropertyDescription?
  open var collationType: NSFetchIndexElementType
  open var isAscending = true
  let subject: FetchIndexDescription.Element.Subject?

  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.property = property
    self.collationType = collationType
    subject = nil
  }

  init(_ element: FetchIndexDescription.Element, of entity: NSEntityDescription) {
    subject = element.subject
    collationType = element.kind == .rTree ? .rTree : .binary
    if case .property(let name) = element.subject { property = entity.propertiesByName[name] } else { property = nil }
    super.init()
    isAscending = element.isAscending
  }

  open var propertyName: String? { property?.name }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  func element() -> FetchIndexDescription.Element {
    let subject: FetchIndexDescription.Element.Subject =
      if let expression = property as? NSExpressionDescription {
        .expression(
          expression.expression?.fetchExpression.format ?? "", expression.expressionResultType.persistType)
      } else {
        self.subject ?? .property(property?.name ?? "")
      }
    return FetchIndexDescription.Element(
      subject, kind: collationType == .rTree ? .rTree : .binary, isAscending: isAscending)
  }
}

// Unchecked: a description is changed only until a coordinator uses its model.
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
  open var name: String
  open var elements: [NSFetchIndexElementDescription]
  open var partialIndexPredicate: NSPredicate?
  public internal(set) weak var entity: NSEntityDescription?

  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
  }

  convenience init(_ index: FetchIndexDescription, of entity: NSEntityDescription) {
    self.init(name: index.name, elements: index.elements.map { NSFetchIndexElementDescription($0, of: entity) })
    partialIndexPredicate = index.partialPredicate.map { NSPredicate(format: $0) }
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  func index() throws -> FetchIndexDescription {
    FetchIndexDescription(
      name, elements: elements.map { $0.element() },
      partialPredicate: try partialIndexPredicate?.fetchPredicate().format)
  }
}
