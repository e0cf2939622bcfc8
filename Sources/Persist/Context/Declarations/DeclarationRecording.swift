public import Synchronization

/// Takes down what the properties of a class declare while one object of the class is made for that.
///
/// - SeeAlso: ``ClassDeclaration``
public enum DeclarationRecording {
  /// How many classes are being looked at, by all threads.
  @usableFromInline static let count = Atomic<Int>(0)
  /// What the current task takes down; nil while it makes objects for use.
  @TaskLocal static var current: Notes?

  /// Whether a property that is being made should be taken down. Nearly always false, and costs next to nothing then.
  @inlinable public static var isActive: Bool { count.load(ordering: .relaxed) != 0 }

  /// Takes down a declaration, where the current task looks at a class.
  public static func record(_ declaration: any PropertyDeclaration, key: DeclarationKey) {
    current?.declarations.append((key, declaration))
  }

  /// `@unchecked Sendable`: made, used and dropped within one synchronous call, and seen by that call's task alone.
  final class Notes: @unchecked Sendable {
    var declarations: [(key: DeclarationKey, declaration: any PropertyDeclaration)] = []
    /// The properties of prototypes that were used.
    var uses: [(key: DeclarationKey, owner: ManagedObject.Type, object: ManagedObject)] = []
    /// While a key path is followed: the prototypes at the other ends of the relationships that were used.
    var destinations: [ManagedObject]?

    /// Forgets what an object declared that was made beside the prototype, by the initial value of a stored property:
    /// its properties were the last ones made with their keys.
    func leaveOut(_ object: ManagedObject) {
      guard !object.isPrototype else { return }
      for level in sequence(first: Mirror(reflecting: object), next: \.superclassMirror) {
        for case let property as any DeclaredProperty in level.children.map(\.value) {
          if let index = declarations.lastIndex(where: { $0.key == property.key }) { declarations.remove(at: index) }
        }
      }
    }
  }

  static func notes(while body: () throws -> Void) rethrows -> Notes {
    let notes = Notes()
    count.add(1, ordering: .sequentiallyConsistent)
    defer { count.subtract(1, ordering: .sequentiallyConsistent) }
    try $current.withValue(notes) { try body() }
    return notes
  }
}
