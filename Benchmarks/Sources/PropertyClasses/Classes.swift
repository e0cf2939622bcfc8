public import Foundation
public import Persist
public import PersistMacrosless

/// Eight properties as wrappers.
public final class WrappedItem: ManagedObject {
  @Attribute public var addedAt = Date(timeIntervalSinceReferenceDate: 0)
  @Attribute public var code = "code"
  @Attribute public var name = "name"
  @Attribute public var note = "note"
  @Attribute public var price = 1.5
  @Attribute public var quantity = 1
  @Attribute public var rank = 2
  @Attribute public var isOnSale = false
}

/// One of them as `persist generate` writes it for a 32-bit integer: a constant slot, in name order.
public final class GeneratedItem: ManagedObject {
  public var quantity: Int32 {
    get { integer(at: 6).flatMap { Int32(exactly: $0) } ?? 1 }
    set { setAttributeValue(.integer(Int64(newValue)), at: 6) }
  }
}

/// A computed property over the same slot, as one would write it by hand.
public final class HandWrittenItem: ManagedObject {
  public var quantity: Int64 {
    get { integer(at: 6) ?? 1 }
    set { setAttributeValue(.integer(newValue), at: 6) }
  }
}

/// The same as stored properties of a managed object.
public final class StoredItem: ManagedObject {
  public var addedAt = Date(timeIntervalSinceReferenceDate: 0)
  public var code = "code"
  public var name = "name"
  public var note = "note"
  public var price = 1.5
  public var quantity = 1
  public var rank = 2
  public var isOnSale = false
}

/// A stored property accessed by a call.
public final class PlainItem {
  public var quantity = 1

  public init() {}

  @inline(never) public func readQuantity() -> Int { quantity }
  @inline(never) public func writeQuantity(_ value: Int) { quantity = value }
}
