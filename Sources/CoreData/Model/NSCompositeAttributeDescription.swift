import Foundation
import Persist

// Unchecked: as its superclass is.
/// An attribute that consists of several ones, whose values are dictionaries.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  /// The attributes that the attribute consists of; some of them may be composite.
  open var elements: [NSAttributeDescription] = [] { didSet { recordChange() } }

  /// Creates a description.
  public required init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  override func copy(to other: NSPropertyDescription) {
    super.copy(to: other)
    (other as? NSCompositeAttributeDescription)?.elements = elements.compactMap { $0.copy() as? NSAttributeDescription }
  }

  /// Takes the elements of a model's composite type.
  func adopt(_ composites: [String: CompositeDescription]) {
    guard let composite = compositeName.flatMap({ composites[$0] }) else { return }
    // A type that contains itself is refused by the model.
    let others = composites.filter { $0.key != composite.name }
    elements = composite.elements.map { element in
      let description = NSAttributeDescription.describing(element)
      (description as? NSCompositeAttributeDescription)?.adopt(others)
      return description
    }
  }

  /// The name of the composite type: that in a model file, or one that follows from the attribute's place.
  private var typeName: String { compositeName ?? "\(entity?.name ?? "").\(name)" }

  override func attribute() throws -> AttributeDescription { try attribute(typeName) }

  private func attribute(_ type: String) throws -> AttributeDescription {
    var attribute = try super.attribute()
    attribute.compositeName = type
    return attribute
  }

  /// The composite types of the attribute and of its elements.
  func composites() throws -> [CompositeDescription] { try composites(typeName) }

  private func composites(_ type: String) throws -> [CompositeDescription] {
    let nested = elements.compactMap { $0 as? NSCompositeAttributeDescription }
    let own = CompositeDescription(
      type,
      elements: try elements.map { element in
        guard let composite = element as? NSCompositeAttributeDescription else { return try element.attribute() }
        return try composite.attribute(composite.compositeName ?? "\(type).\(element.name)")
      })
    return try [own] + nested.flatMap { try $0.composites($0.compositeName ?? "\(type).\($0.name)") }
  }
}

extension NSAttributeDescription {
  /// Returns the description of an attribute, of the class for its kind.
  static func describing(_ attribute: AttributeDescription) -> NSAttributeDescription {
    let description =
      if attribute.type == .composite {
        NSCompositeAttributeDescription()
      } else if attribute.isDerived { NSDerivedAttributeDescription() } else { NSAttributeDescription() }
    description.adopt(attribute)
    return description
  }
}
