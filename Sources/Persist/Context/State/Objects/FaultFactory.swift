/// Creates the faults of rows of one hierarchy.
///
/// Most rows that follow one another belong to one entity, whose class and layout are looked up once.
struct FaultFactory {
  private let context: ManagedObjectContext
  private let graph: ObjectGraph
  private let table: ObjectTable
  /// The entity of the last fault; negative before the first.
  private var entityIndex = -1
  private var type = ManagedObject.self
  private var origin: ManagedObject.Origin?

  init(_ context: ManagedObjectContext, _ table: ObjectTable) {
    (self.context, graph, self.table) = (context, context.graph, table)
  }

  /// Creates and registers the fault of a row.
  ///
  /// - Parameters:
  ///   - key: A key that isn't registered.
  ///   - entityIndex: The index of the row's own entity in ``ManagedObjectModel/entities``.
  @inline(__always)
  mutating func makeFault(key: Int64, entityIndex: Int) -> ManagedObject {
    if entityIndex == self.entityIndex, var origin {
      origin.key = key
      return register(type.init(origin), key)
    }
    return makeFirstFault(key: key, entityIndex: entityIndex)
  }

  @inline(never)
  private mutating func makeFirstFault(key: Int64, entityIndex: Int) -> ManagedObject {
    type = context.classes[entityIndex]
    let kind = table.kind(of: context.layouts[entityIndex], as: type)
    let origin = ManagedObject.Origin(kind: kind, key: key, loading: .fault)
    (self.entityIndex, self.origin) = (entityIndex, origin)
    return register(type.init(origin), key)
  }

  @inline(__always)
  private func register(_ object: ManagedObject, _ key: Int64) -> ManagedObject {
    table.insertEntry(of: object, key: key)
    graph.hold(object)
    return object
  }
}
