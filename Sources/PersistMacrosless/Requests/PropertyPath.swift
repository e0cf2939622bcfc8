import Persist

/// The names in the model for a key path of declared properties.
///
/// A key path is resolved once, on objects that record which of their properties are accessed; results are cached for
/// the process. No model is needed, and the properties are those that classes declare with wrappers or generated code.
enum PropertyPath {
  private static let known = LockProtected<[KeyPathReference: String]>([:])

  /// The path, such as `category.name`, `address.city` for a part of a composite, or `items.@count`.
  ///
  /// A key path that doesn't end at a declared property is a programming error, and traps.
  static func text<Root: ManagedObject>(_ keyPath: any PartialKeyPath<Root> & Sendable) -> String {
    let reference = KeyPathReference(keyPath)
    if let path = known.withLock({ $0[reference] }) { return path }
    guard let path = find(keyPath) else {
      preconditionFailure("\(keyPath) doesn't lead to a property that \(Root.self) or its relationships declare.")
    }
    known.withLock { $0[reference] = path }
    return path
  }

  private static func find<Root: ManagedObject>(_ keyPath: PartialKeyPath<Root>) -> String? {
    if let generated = (Root.self as? any GeneratedObject.Type)?.generatedClasses {
      return try? generated.keys(of: keyPath).joined(separator: ".")
    }
    guard let members = ClassDeclaration(Root.self).members(along: keyPath), let last = members.last else { return nil }
    let path = members.map(\.modelName).joined(separator: ".")
    let (found, declared) = (type(of: keyPath).valueType, last.declaration.valueType)
    if unwrapped(found) == unwrapped(declared) { return path }
    if let composite = (declared as? any StorableValue.Type)?.wrappedType as? any CompositeValue.Type {
      let declaration = ClassDeclaration(Root.self)
      let part = CompositeParts.path(in: composite) { declaration.result(of: keyPath, forComposites: $0) }
      return part.map { ([path] + $0).joined(separator: ".") }
    }
    // A different type means a value computed from the property. The only one supported is the number of members.
    return found == Int.self && (declared as? any RelationshipValue.Type)?.isToMany == true ? path + ".@count" : nil
  }

  private static func unwrapped(_ type: Any.Type) -> Any.Type {
    (type as? any OptionalType.Type).map { unwrapped($0.wrapped) } ?? type
  }
}

private protocol OptionalType {
  static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
  static var wrapped: Any.Type { Wrapped.self }
}
