import Persist

/// The names in the model that a key path of declared properties leads over.
///
/// A key path is followed once, over objects that note which of their properties are used; answers are kept for the
/// process. No model is needed, and properties count that classes declare with wrappers.
enum PropertyPath {
  private static let known = Guarded<[KeyPathReference: String]>([:])

  /// The path, such as `category.name`, or `items.@count`.
  ///
  /// A key path that doesn't lead to a declared property is a mistake of the program, and stops it.
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
    // Another type is something that is computed of the property. Of that only the number of members can be asked for.
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
