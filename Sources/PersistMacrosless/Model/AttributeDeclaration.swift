import Foundation
import Persist

/// A class's declaration of an attribute.
///
/// `@unchecked Sendable`: the default's closure captures nothing, because the initial value of a stored property can't;
/// the bounds are ranges of values. Both are immutable.
struct AttributeDeclaration<Value: StorableValue>: DescribedDeclaration, @unchecked Sendable {
  let traits: AttributeTraits
  let initialValue: (() -> StoredValue)?

  init(_ initialValue: (() -> StoredValue)?, _ traits: AttributeTraits) {
    self.initialValue = initialValue
    self.traits = traits
  }

  var modelName: String? { traits.name }

  var valueType: Any.Type { Value.self }

  private var type: AttributeType {
    traits.type ?? (traits.transformer == nil ? Value.attributeType : .transformable)
  }

  private var transformer: String? {
    if let name = traits.transformer { return name }
    guard let name = (Value.wrappedType as? any TransformableValue.Type)?.transformerName else { return nil }
    return name.isEmpty ? nil : name
  }

  func problem(with property: Property) -> String? {
    guard let attribute = property.attribute else { return "isn't an attribute." }
    guard attribute.type.canHold(type) else { return "is of type \(attribute.type.rawValue), not \(type.rawValue)." }
    guard attribute.type == .composite else { return nil }
    return (Value.wrappedType as? any CompositeValue.Type)?.problem(with: property)
  }

  func add(_ member: ClassDeclaration.Member, to entity: inout EntityDescription, _ plan: inout ModelFromClasses) {
    let place = PersistenceError.Place.property(entity.name, member.modelName)
    if !allowed.contains(type) {
      plan.report(
        place, "A property of type \(Value.self) can't be an attribute of type \(type.rawValue).",
        fix: "Use one of \(allowed.map(\.rawValue).joined(separator: ", ")).")
    }
    for (message, fix) in traits.problems(of: type) { plan.report(place, message, fix: fix) }
    var attribute = AttributeDescription(
      member.modelName, type, isOptional: traits.isOptional ?? Value.isOptional, isTransient: traits.isTransient,
      default: constantDefault, renamingIdentifier: traits.renamedFrom,
      versionHashModifier: traits.versionHashModifier, userInfo: traits.userInfo,
      valueTransformerName: transformer, allowsExternalStorage: traits.allowsExternalStorage,
      preservesValueOnDeletion: traits.isPreservedOnDeletion, derivation: traits.derivation,
      usesScalarType: Value.attributeType.isScalar)
    attribute.validation = validation(at: place, &plan)
    if let composite = Value.wrappedType as? any CompositeValue.Type {
      attribute.compositeName = plan.addComposite(composite)
    }
    entity.attributes.append(attribute)
    if traits.isUnique { entity.uniquenessConstraints.append([member.modelName]) }
    if traits.isIndexed {
      let name = member.modelName.prefix(1).uppercased() + member.modelName.dropFirst()
      entity.indexes.append(FetchIndexDescription("by\(name)", on: member.modelName))
    }
  }

  /// The attribute types that a model can use for values of this Swift type.
  private var allowed: [AttributeType] {
    if traits.transformer != nil { return [.transformable] }
    return AttributeType.widths.first { $0.contains(Value.attributeType) } ?? [Value.attributeType]
  }

  /// The default if it is constant: one like `UUID()` or `Date()` belongs to each object, not to the model.
  private var constantDefault: StoredValue {
    guard let initialValue else { return .null }
    // Encoding a value of a type without storable parts would trap; the type is reported with the others.
    if let composite = Value.wrappedType as? any CompositeValue.Type, (try? composite.elements()) == nil {
      return .null
    }
    let value = initialValue()
    return value == initialValue() && !value.isRecent ? value : .null
  }

  private func validation(at place: PersistenceError.Place, _ plan: inout ModelFromClasses) -> AttributeValidation {
    func limit(_ value: StoredValue?) -> StoredValue? {
      guard let value else { return nil }
      if let limit = value.converted(to: type) { return limit }
      plan.report(
        place, "\(value) can't limit values of type \(type.rawValue).",
        fix: "Use a range of its own type, or leave this limit out.")
      return nil
    }
    func count(_ value: StoredValue?) -> Int? { if case .integer(let count)? = value { Int(count) } else { nil } }
    return AttributeValidation(
      minimum: limit(traits.bounds?.least), maximum: limit(traits.bounds?.greatest),
      minimumLength: count(traits.lengths?.least), maximumLength: count(traits.lengths?.greatest),
      pattern: traits.pattern,
      rules: traits.rule.map { [.init(predicate: $0, warning: traits.warning)] } ?? [])
  }
}

extension AttributeType {
  /// Types for the same kind of value in different widths.
  fileprivate static let widths: [[AttributeType]] = [
    [.int16, .int32, .int64], [.float, .double], [.binary, .transformable],
  ]

  /// Whether an attribute of this type can have the values of a property that a class declares as another type.
  func canHold(_ declared: AttributeType) -> Bool {
    self == declared || self == .undefined || Self.widths.contains { $0.contains(self) && $0.contains(declared) }
  }

  fileprivate var isScalar: Bool {
    [.int16, .int32, .int64, .float, .double, .boolean].contains(self)
  }
}

extension StoredValue {
  /// The value converted to an attribute's type without a change of meaning: integers convert to every numeric type.
  fileprivate func converted(to type: AttributeType) -> StoredValue? {
    switch (self, type) {
    case (.integer(let value), .double), (.integer(let value), .float): .double(Double(value))
    case (.integer(let value), .decimal): .decimal(Decimal(value))
    // The shortest decimal that reads as the same double is the number in the source; infinity has none.
    case (.double(let value), .decimal): Decimal(shortestTextOf: value).map(StoredValue.decimal)
    case (.data, .transformable), (.integer, .int16), (.integer, .int32), (.integer, .int64), (.double, .double),
      (.double, .float), (.decimal, .decimal), (.date, .date), (.string, .string), (.null, _):
      self
    default: nil
    }
  }
}
