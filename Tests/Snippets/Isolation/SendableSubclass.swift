import Persist

final class Item: ManagedObject, Sendable {}  // expect-error: 'Sendable' class 'Item' cannot inherit from another class
