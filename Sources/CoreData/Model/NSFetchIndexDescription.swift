public import Foundation
import Persist

/// The kinds of indexes.
public enum NSFetchIndexElementType: UInt, Sendable {
  /// An index for comparisons and sorting.
  case binary = 0
  /// An index for ranges in several dimensions.
  case rTree = 1
}

// Unchecked: a description is changed only until a coordinator uses its model.
/// An element of an index.
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
  /// The property or expression that is indexed.
  public let property: NSPropertyDescription?
  /// The kind of the index.
  open var collationType: NSFetchIndexElementType
  /// The direction of the sort order.
  open var isAscending = true
  let subject: FetchIndexDescription.Element.Subject?

  /// The index; nil until the element belongs to one.
  public internal(set) weak var indexDescription: NSFetchIndexDescription?

  /// Creates an element for a property.
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

  /// The name of the property.
  open var propertyName: String? { property?.name }

  /// Returns the description itself.
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
/// An index of an entity.
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
  /// The name.
  open var name: String
  /// The elements in their order.
  open var elements: [NSFetchIndexElementDescription] {
    didSet { for element in elements { element.indexDescription = self } }
  }
  /// The predicate of the objects that the index contains; nil for all.
  open var partialIndexPredicate: NSPredicate?
  /// The entity.
  public internal(set) weak var entity: NSEntityDescription?

  /// Creates an index.
  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    for element in self.elements { element.indexDescription = self }
  }

  convenience init(_ index: FetchIndexDescription, of entity: NSEntityDescription) {
    self.init(name: index.name, elements: index.elements.map { NSFetchIndexElementDescription($0, of: entity) })
    partialIndexPredicate = index.partialPredicate.map { NSPredicate(format: $0) }
  }

  /// Returns the description itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  func index() throws -> FetchIndexDescription {
    FetchIndexDescription(
      name, elements: elements.map { $0.element() },
      partialPredicate: try partialIndexPredicate?.fetchPredicate().format)
  }
}
