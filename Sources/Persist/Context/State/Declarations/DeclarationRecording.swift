public import Synchronization

/// Records the declarations of a class's properties while a prototype of the class is created.
///
/// - SeeAlso: ``ClassDeclaration``
@_documentation(visibility: internal)
public enum DeclarationRecording {
  /// The number of classes being examined, across all threads.
  @usableFromInline static let count = Atomic<Int>(0)
  /// The current task's recording; nil while it creates objects for use.
  @TaskLocal static var current: Record?

  /// Whether new properties should be recorded. Nearly always false, and then almost free.
  @inlinable public static var isActive: Bool { count.load(ordering: .relaxed) != 0 }

  /// Records a declaration if the current task is examining a class.
  public static func record(_ declaration: any PropertyDeclaration, key: DeclarationKey) {
    current?.declarations.append((key, declaration))
  }

  /// `@unchecked Sendable`: created, used and released in one synchronous call, and visible to that call's task only.
  final class Record: @unchecked Sendable {
    var declarations: [(key: DeclarationKey, declaration: any PropertyDeclaration)] = []
    /// The accessed properties of prototypes.
    var uses: [(key: DeclarationKey, owner: ManagedObject.Type, object: ManagedObject)] = []
    /// While a key path is resolved: the prototypes that represent the destinations of accessed relationships.
    var destinations: [ManagedObject]?
    /// While a key path is resolved: the value of the composite attributes of those prototypes.
    var compositeValue: StoredValue?

    /// Removes the declarations of an object other than the prototype, which the initial value of a stored property
    /// created: its properties are the last ones recorded with their keys.
    func leaveOut(_ object: ManagedObject) {
      guard !object.isPrototype else { return }
      for level in sequence(first: Mirror(reflecting: object), next: \.superclassMirror) {
        for case let property as any DeclaredProperty in level.children.map(\.value) {
          if let index = declarations.lastIndex(where: { $0.key == property.key }) { declarations.remove(at: index) }
        }
      }
    }
  }

  static func record(while body: () throws -> Void) rethrows -> Record {
    let record = Record()
    count.add(1, ordering: .sequentiallyConsistent)
    defer { count.subtract(1, ordering: .sequentiallyConsistent) }
    try $current.withValue(record) { try body() }
    return record
  }
}
