import Foundation
import Persist

/// The reason why an imported object can't be used. Its reader adds the place in the file.
struct UnusableInput: Error {
  let code: PersistenceError.Code
  let words: String
  var property: String?
  var fix: String?

  init(_ words: String, code: PersistenceError.Code = .typeMismatch, property: String? = nil, fix: String? = nil) {
    self.code = code
    self.words = words
    self.property = property
    self.fix = fix
  }
}

/// Converts the values of imported objects of one entity to those of a store.
struct ImportedEntity {
  let entity: Entity
  private let model: ManagedObjectModel
  private let storeIdentifier: String
  private let properties: [String: Property]
  /// The defaults of attributes.
  private let defaults: SlotValues

  init(_ entity: Entity, of model: ManagedObjectModel, storeIdentifier: String) {
    self.entity = entity
    self.model = model
    self.storeIdentifier = storeIdentifier
    properties = entity.propertiesByName.filter { !$0.value.isTransient }
    defaults = SlotValues(
      entity.properties.map { property in
        guard !property.isTransient, let value = property.attribute?.defaultValue, !value.isNull else { return nil }
        return value
      })
  }

  /// The values and members of one object.
  struct Draft {
    var key: Int64?
    var values: SlotValues
    var members: [ImportSlice.Members] = []
  }

  /// An object whose attributes have their defaults, for those that its source lacks.
  var draft: Draft { Draft(values: defaults) }

  func attribute(_ name: String) throws -> (slot: Int, attribute: AttributeDescription, elements: [Property.Element]) {
    guard let property = properties[name], let attribute = property.attribute else {
      throw unknown(name, as: "attribute", known: properties.values.filter { $0.attribute != nil })
    }
    return (property.slot, attribute, property.elements)
  }

  func relationship(_ name: String) throws -> (slot: Int, relationship: RelationshipDescription) {
    guard let property = properties[name], let relationship = property.relationship else {
      throw unknown(name, as: "relationship", known: properties.values.filter { $0.relationship != nil })
    }
    return (property.slot, relationship)
  }

  /// Whether a name is that of a relationship.
  func isRelationship(_ name: String) -> Bool { properties[name]?.relationship != nil }

  private func unknown(_ name: String, as kind: String, known: some Sequence<Property>) -> UnusableInput {
    let names = known.map(\.name).sorted().joined(separator: ", ")
    return UnusableInput(
      "\(entity.name) has no \(kind) '\(name)'.", code: .unknownProperty,
      fix: names.isEmpty ? nil : "It has \(names).")
  }

  /// Returns the identifier of a related object.
  func target(_ entityName: String, _ key: Int64, of relationship: RelationshipDescription) throws -> ManagedObjectID {
    let destination = model.destination(of: relationship)
    guard let entity = model.entitiesByName[entityName], entity.isKind(of: destination) else {
      throw UnusableInput(
        "'\(relationship.name)' can't lead to an object of the entity '\(entityName)'.", property: relationship.name,
        fix: "It leads to objects of \(destination.name).")
    }
    return ManagedObjectID(entityName: entityName, storeIdentifier: storeIdentifier, key: .permanent(key))
  }
}

extension AttributeDescription {
  /// Converts a text to a value of the attribute's type, without losing a digit.
  ///
  /// - Parameter isNumber: whether the text is a JSON number, as opposed to a text in quotation marks.
  func imported(_ text: String, isNumber: Bool) throws -> StoredValue {
    let takesNumbers = [.int16, .int32, .int64, .double, .float, .date, .decimal].contains(type)
    let takesTexts = [.decimal, .string, .uri, .uuid, .binary, .transformable].contains(type)
    guard isNumber ? takesNumbers : takesTexts, let value = converted(text) else {
      throw mismatch(isNumber ? text : ValueWords.text(text))
    }
    return value
  }

  /// Nil if the text isn't a value of the type.
  func converted(_ text: String) -> StoredValue? {
    switch type {
    case .int16: Int16(text).map { .integer(Int64($0)) }
    case .int32: Int32(text).map { .integer(Int64($0)) }
    case .int64: Int64(text).map { .integer($0) }
    case .boolean: text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
    case .double, .float: Double(text).flatMap { $0.isNaN ? nil : .double($0) }
    case .date: Double(text).flatMap { $0.isNaN ? nil : .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .decimal: Decimal(wholeText: text).map { .decimal($0) }
    case .string: .string(text)
    case .uri: .uri(text)
    case .uuid: UUID(uuidString: text).map { .uuid($0) }
    case .binary, .transformable: Data(base64Encoded: text).map { .data($0) }
    case .composite, .objectID, .undefined: nil
    }
  }

  func mismatch(_ found: String) -> UnusableInput {
    UnusableInput("'\(name)' is of type \(type.rawValue) and can't hold \(found).", property: name)
  }
}
